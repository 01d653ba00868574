#include "tributary/coordinator/split_fed_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/engine/compute.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline coordinator {
namespace {

std::uint64_t StepInRun(RoundId round, std::uint64_t step, const TrainAssignment& assignment) {
  return (round.value - 1) * static_cast<std::uint64_t>(assignment.steps) + step;
}

}  // namespace

ServerModelReplica::ServerModelReplica(const SplitNetwork& network, double label_smoothing)
    : label_smoothing_(label_smoothing),
      parameters_at_(network.whole->parameters.From(network.cut + 1)),
      statistics_at_(network.whole->statistics.From(network.cut + 1)),
      parameters_(network.rest->parameters.size),
      statistics_(network.rest->statistics.size),
      change_(network.rest->parameters.size),
      executor_(network.rest, NetworkMemory{parameters_.span(), statistics_.span(), change_.span()}) {}

Status ServerModelReplica::Begin(const SharedWeights& whole, const TrainAssignment& assignment) {
  origin_ = {whole.parameters.subspan(parameters_at_, parameters_.size()),
             whole.statistics.subspan(statistics_at_, statistics_.size())};
  std::ranges::copy(origin_.parameters, parameters_.data());
  std::ranges::copy(origin_.statistics, statistics_.data());
  learning_rate_ = assignment.learning_rate;
  sound_ = true;
  TRIBUTARY_ASSIGN_OR_RETURN(optimiser_, MakeOptimiser(assignment.optimiser, parameters_.size()));
  return OkStatus();
}

StatusOr<SplitReply> ServerModelReplica::Learn(DeviceId device, const SplitBatch& batch, Rng chance) {
  if (!sound_) return UnsoundSplit(device);
  SetComputeThreads(1);
  const std::vector<float> before(statistics_.data(), statistics_.data() + statistics_.size());
  const PassOptions options{.label_smoothing = label_smoothing_, .rng = &chance, .input_gradient = true};
  const auto pass = executor_.Train({batch.values, batch.labels}, options);
  TRIBUTARY_RETURN_IF_ERROR(pass.status());
  const auto gradient = executor_.input_gradient();
  if (!std::isfinite(pass->loss) || !Finite(gradient) || !WeightedSum::Check(change_.span()).ok() ||
      !WeightedSum::Check(statistics_.span()).ok()) {
    std::ranges::copy(before, statistics_.data());
    return UnsoundSplit(device);
  }
  optimiser_->Step(parameters_.span(), change_.span(), learning_rate_);
  // The gradients are no longer needed; their memory takes the change since Begin.
  for (std::size_t i = 0; i < change_.size(); ++i) {
    change_.data()[i] = parameters_.data()[i] - origin_.parameters[i];
  }
  sound_ = WeightedSum::Check(change_.span()).ok();
  if (!sound_) return UnsoundSplit(device);
  return SplitReply{{gradient.begin(), gradient.end()}, pass->loss, pass->correct};
}

Status ServerModelReplica::AddTo(UpdateSink& sink, DeviceId device, double weight) const {
  const UpdatePiece pieces[] = {{UpdatePart::kParameters, parameters_at_, change_.span(), weight},
                                {UpdatePart::kStatistics, statistics_at_, statistics_.span(), weight}};
  return sink.Take(WorkOf(device), pieces);
}

SplitFedServer::SplitFedServer(SplitNetwork network, std::uint64_t seed)
    : network_(std::move(network)), seed_(seed) {
  TRIBUTARY_CHECK(!network_.tail);
}

void SplitFedServer::Begin(const WorkOrder& request, const RoundScene& scene) {
  request_ = &request;
  weights_ = scene.weights;
  sink_ = &scene.sink;
  slots_.resize(request.participants.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].replies.assign(static_cast<std::size_t>(request.training().steps), std::nullopt);
    slots_[i].held = scene.devices[request.participants[i].value].samples;
  }
}

Status SplitFedServer::Take(std::size_t participant, const SplitBatch& batch) {
  const TrainAssignment& assignment = request_->training();
  const Slot& slot = slots_[participant];
  const auto step = static_cast<std::size_t>(std::max(0, batch.crossing));
  TRIBUTARY_RETURN_IF_ERROR(CheckSplitBatch(network_, request_->participants[participant],
                                            SamplesAt(assignment, slot.held, step), assignment.steps, batch));
  if (slot.replies[step]) return OkStatus();  // Sent again after a reconnect.
  return TakeStep(participant, step, batch);
}

const SplitReply* SplitFedServer::Reply(std::size_t participant, int crossing) const {
  const auto& reply = slots_[participant].replies[static_cast<std::size_t>(crossing)];
  return reply ? &*reply : nullptr;
}

Rng SplitFedServer::ChanceOf(DeviceId device, std::size_t step) const {
  return Rng::ForStream(seed_, device, "rest", StepInRun(request_->round, step, request_->training()));
}

double SplitFedServer::WeightOf(std::size_t participant) const {
  const Slot& slot = slots_[participant];
  double weight = 0;
  for (std::size_t step = 0; step < slot.replies.size(); ++step) {
    weight += static_cast<double>(SamplesAt(request_->training(), slot.held, step));
  }
  return weight;
}

void SplitFedV1Server::Begin(const WorkOrder& request, const RoundScene& scene) {
  SplitFedServer::Begin(request, scene);
  copies_.resize(std::max(copies_.size(), slots_.size()));
}

Status SplitFedV1Server::TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) {
  const DeviceId device = request_->participants[participant];
  auto& replies = slots_[participant].replies;
  const auto next = static_cast<std::size_t>(
      std::ranges::find_if(replies, [](const auto& reply) { return !reply; }) - replies.begin());
  if (step > next) {
    return InvalidArgument(
        fmt::format("device {} sends step {} over the cut before step {}", device.value, step, next));
  }
  auto& copy = copies_[participant];
  if (step == 0) {
    if (!copy) copy = std::make_unique<ServerModelReplica>(network_, label_smoothing_);
    TRIBUTARY_RETURN_IF_ERROR(copy->Begin(weights_, request_->training()));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(replies[step], copy->Learn(device, batch, ChanceOf(device, step)));
  return OkStatus();
}

Status SplitFedV1Server::OnRoundAccepted(const RoundReport& report) {
  TRIBUTARY_CHECK(report.devices.size() == request_->participants.size());
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    if (report.devices[i].outcome != Outcome::kApplied) continue;
    TRIBUTARY_CHECK(report.devices[i].device == request_->participants[i] &&
                    slots_[i].replies.back().has_value());
    TRIBUTARY_RETURN_IF_ERROR(copies_[i]->AddTo(*sink_, report.devices[i].device, WeightOf(i)));
  }
  return OkStatus();
}

std::vector<std::size_t> SplitFedV2Server::Turns(std::uint64_t seed, RoundId round, int step,
                                                 const TrainAssignment& assignment,
                                                 std::size_t participants) {
  std::vector<std::size_t> order(participants);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "turns",
                           StepInRun(round, static_cast<std::uint64_t>(step), assignment));
  Shuffle(rng, std::span(order));
  return order;
}

void SplitFedV2Server::Begin(const WorkOrder& request, const RoundScene& scene) {
  SplitFedServer::Begin(request, scene);
  closed_ = 0;
  waiting_.assign(slots_.size(), std::nullopt);
}

Status SplitFedV2Server::TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) {
  if (batch.crossing != closed_) {
    return InvalidArgument(fmt::format("device {} sends step {} over the cut, where all are at step {}",
                                       request_->participants[participant].value, step, closed_));
  }
  std::optional<Waiting>& waiting = waiting_[participant];
  if (!waiting) {
    waiting = {{batch.values.begin(), batch.values.end()}, {batch.labels.begin(), batch.labels.end()}};
  }
  return OkStatus();
}

Status SplitFedV2Server::Close(int crossing) {
  TRIBUTARY_CHECK(crossing == closed_);
  const TrainAssignment& assignment = request_->training();
  if (closed_++ == 0) TRIBUTARY_RETURN_IF_ERROR(rest_.Begin(weights_, assignment));
  const auto step = static_cast<std::size_t>(crossing);
  Status status;
  for (const std::size_t i : Turns(seed_, request_->round, crossing, assignment, slots_.size())) {
    const std::optional<Waiting> batch = std::exchange(waiting_[i], std::nullopt);
    if (!batch) continue;
    const DeviceId device = request_->participants[i];
    auto reply = rest_.Learn(device, {crossing, batch->values, batch->labels}, ChanceOf(device, step));
    if (reply.ok()) {
      slots_[i].replies[step] = std::move(*reply);
    } else if (status.ok() || reply.status().code() == StatusCode::kResourceExhausted) {
      status = std::move(reply).status();
    }
  }
  if (rest_.sound()) return status.code() == StatusCode::kResourceExhausted ? status : OkStatus();
  // Its values are not finite: no device continues, and the round is discarded.
  for (Slot& slot : slots_) slot.replies[step].reset();
  return status;
}

Status SplitFedV2Server::OnRoundAccepted(const RoundReport& report) {
  // The only contribution to its part of the mean, so any weight gives the same result.
  double weight = 0;
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    if (report.devices[i].outcome == Outcome::kApplied) weight += WeightOf(i);
  }
  return rest_.AddTo(*sink_, request_->participants.front(), weight);
}

}  // namespace tributary::inline coordinator
