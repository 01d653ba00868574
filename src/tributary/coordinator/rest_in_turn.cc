#include "tributary/coordinator/rest_in_turn.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/coordinator/cut_check.h"

namespace tributary {
namespace {

std::uint64_t StepInRun(RoundId round, int step, const TrainAssignment& assignment) {
  return (round.value - 1) * static_cast<std::uint64_t>(assignment.steps) + static_cast<std::uint64_t>(step);
}

}  // namespace

std::vector<std::size_t> RestInTurn::Turns(std::uint64_t seed, RoundId round, int step,
                                           const TrainAssignment& assignment, std::size_t participants) {
  std::vector<std::size_t> order(participants);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "turns", StepInRun(round, step, assignment));
  Shuffle(rng, std::span(order));
  return order;
}

RestInTurn::RestInTurn(SplitNetwork network, std::uint64_t seed, double label_smoothing)
    : network_(std::move(network)), seed_(seed), rest_(network_, label_smoothing) {
  TRIBUTARY_CHECK(!network_.tail);
}

void RestInTurn::Begin(const RoundRequest& request, const RoundScene& scene) {
  request_ = &request;
  weights_ = scene.weights;
  sink_ = &scene.sink;
  closed_ = 0;
  slots_.resize(request.participants.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].there = false;
    slots_[i].replies.assign(static_cast<std::size_t>(request.assignment.steps), std::nullopt);
    slots_[i].held = scene.devices[request.participants[i].value].samples;
  }
}

Status RestInTurn::Take(std::size_t participant, const CutBatch& batch) {
  const TrainAssignment& assignment = request_->assignment;
  const DeviceId device = request_->participants[participant];
  Slot& slot = slots_[participant];
  const auto step = static_cast<std::uint64_t>(std::max(0, batch.crossing));
  TRIBUTARY_RETURN_IF_ERROR(
      CheckCutBatch(network_, device, SamplesAt(assignment, slot.held, step), assignment.steps, batch));
  if (slot.replies[step]) return OkStatus();  // A device that came back sends the same again.
  if (batch.crossing != closed_) {
    return InvalidArgument("device " + std::to_string(device.value) + " sends step " + std::to_string(step) +
                           " over the cut, where all are at step " + std::to_string(closed_));
  }
  if (slot.there) return OkStatus();
  slot.values.assign(batch.values.begin(), batch.values.end());
  slot.labels.assign(batch.labels.begin(), batch.labels.end());
  slot.there = true;
  return OkStatus();
}

Status RestInTurn::Close(int crossing) {
  TRIBUTARY_CHECK(crossing == closed_);
  const TrainAssignment& assignment = request_->assignment;
  if (closed_++ == 0) TRIBUTARY_RETURN_IF_ERROR(rest_.Begin(weights_, assignment));
  const auto step = static_cast<std::size_t>(crossing);
  Status status;
  for (const std::size_t i : Turns(seed_, request_->round, crossing, assignment, slots_.size())) {
    Slot& slot = slots_[i];
    if (!std::exchange(slot.there, false)) continue;
    const DeviceId device = request_->participants[i];
    auto reply =
        rest_.Learn(device, {crossing, slot.values, slot.labels},
                    Rng::ForStream(seed_, device, "rest", StepInRun(request_->round, crossing, assignment)));
    if (reply.ok()) {
      slot.replies[step] = std::move(*reply);
    } else if (status.ok() || reply.status().code() == StatusCode::kResourceExhausted) {
      status = std::move(reply).status();
    }
  }
  if (rest_.sound()) return status.code() == StatusCode::kResourceExhausted ? status : OkStatus();
  // It has no numbers any more: nobody goes on, and the round comes to nothing.
  for (Slot& slot : slots_) slot.replies[step].reset();
  return status;
}

const CutReply* RestInTurn::Reply(std::size_t participant, int crossing) const {
  const auto& reply = slots_[participant].replies[static_cast<std::size_t>(crossing)];
  return reply ? &*reply : nullptr;
}

Status RestInTurn::Conclude(const RoundReport& report) {
  // Alone in its part of the mean, it is the mean, whatever it weighs.
  double weight = 0;
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    if (report.devices[i].outcome != Outcome::kApplied) continue;
    for (int step = 0; step < request_->assignment.steps; ++step) {
      weight += static_cast<double>(
          SamplesAt(request_->assignment, slots_[i].held, static_cast<std::uint64_t>(step)));
    }
  }
  return rest_.AddTo(*sink_, request_->participants.front(), weight);
}

}  // namespace tributary
