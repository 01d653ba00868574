#include "tributary/coordinator/parallel_split_server.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tributary/engine/compute.h"
#include "tributary/model/adapt_graph.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline coordinator {
namespace {

// The first node that waits for the joint batch: the node after the last cut before the first batch norm.
// Past the end if there is no batch norm.
NodeIndex FirstThatWaits(const Model& rest) {
  const NodeIndex needs_all = FirstBatchStatistics(rest.graph, 1);
  if (needs_all == rest.graph.size()) return needs_all;
  NodeIndex before = needs_all - 1;
  while (before > 0 && !rest.cuts[before]) --before;
  return before + 1;
}

std::span<float> Writable(std::span<const float> values) {
  // The executor requires writable memory, but a pass only reads parameters.
  return {const_cast<float*>(values.data()), values.size()};
}

}  // namespace

struct ParallelSplitServer::Bench {
  FlatBuffer gradients, statistics;
  std::optional<Executor> executor;
};

ParallelSplitServer::ParallelSplitServer(SplitNetwork network, std::uint64_t seed, double label_smoothing)
    : network_(std::move(network)),
      seed_(seed),
      label_smoothing_(label_smoothing),
      parameters_at_(network_.whole->parameters.From(network_.cut + 1)),
      statistics_at_(network_.whole->statistics.From(network_.cut + 1)),
      last_(network_.rest->graph.size() - 1),
      late_(FirstThatWaits(*network_.rest)) {}

ParallelSplitServer::~ParallelSplitServer() = default;

void ParallelSplitServer::Begin(const WorkOrder& request, const RoundScene& scene) {
  const SharedWeights& whole = scene.weights;
  const SharedWeights weights{whole.parameters.subspan(parameters_at_, network_.rest->parameters.size),
                              whole.statistics.subspan(statistics_at_, network_.rest->statistics.size)};
  if (weights.parameters.data() != weights_.parameters.data()) {  // Executors refer to the weights' memory.
    slots_.clear();
    const MutexLock lock(mutex_);
    benches_.clear();
    together_.reset();
  }
  request_ = &request;
  weights_ = weights;
  sink_ = &scene.sink;
  if (!together_) together_ = MakeBench();
  if (slots_.size() < request.participants.size()) slots_.resize(request.participants.size());
  for (Slot& slot : slots_) {
    slot.samples = 0;
    slot.gradient.clear();
    for (auto& reply : slot.replies) reply.reset();
  }
}

std::unique_ptr<ParallelSplitServer::Bench> ParallelSplitServer::MakeBench() const {
  auto bench = std::make_unique<Bench>();
  bench->gradients = FlatBuffer(network_.rest->parameters.size);
  bench->statistics = FlatBuffer(network_.rest->statistics.size);
  bench->executor.emplace(network_.rest, NetworkMemory{Writable(weights_.parameters),
                                                       bench->statistics.span(), bench->gradients.span()});
  return bench;
}

std::unique_ptr<ParallelSplitServer::Bench> ParallelSplitServer::TakeBench() {
  const MutexLock lock(mutex_);
  if (benches_.empty()) return MakeBench();
  auto bench = std::move(benches_.back());
  benches_.pop_back();
  return bench;
}

void ParallelSplitServer::GiveBack(std::unique_ptr<Bench> bench) {
  const MutexLock lock(mutex_);
  benches_.push_back(std::move(bench));
}

Rng ParallelSplitServer::ChanceOf(std::size_t participant) const {
  return Rng::ForStream(seed_, DeviceOf(participant), "rest", request_->round.value);
}

bool ParallelSplitServer::SoundTogether() const {
  const Layout& layout = network_.rest->parameters;
  const std::size_t begin = layout.From(late_), end = layout.From(last_ + 1);
  return Finite(joined_) &&
         WeightedSum::Check(together_->gradients.span().subspan(begin, end - begin)).ok() &&
         WeightedSum::Check(together_->statistics.span()).ok();
}

Status ParallelSplitServer::Add(std::size_t participant, double weight, std::span<const float> gradients,
                                NodeIndex first, NodeIndex last) {
  const Layout& layout = network_.rest->parameters;
  const std::size_t begin = layout.From(first), end = layout.From(last + 1);
  const UpdatePiece piece{UpdatePart::kParameters, parameters_at_ + begin,
                          gradients.subspan(begin, end - begin), weight};
  return sink_->Take(WorkOf(DeviceOf(participant)), {&piece, 1});
}

Status ParallelSplitServer::AddStatistics(std::size_t participant, double weight) {
  if (together_->statistics.size() == 0) return OkStatus();
  const UpdatePiece piece{UpdatePart::kStatistics, statistics_at_, together_->statistics.span(), weight};
  return sink_->Take(WorkOf(DeviceOf(participant)), {&piece, 1});
}

Status ParallelSplitServer::Take(std::size_t participant, const SplitBatch& batch) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSplitBatch(network_, DeviceOf(participant), request_->BatchOf(participant),
                                            network_.wire.crossings(), batch));
  SetComputeThreads(1);
  Slot& slot = slots_[participant];
  if (batch.crossing == 0) {
    if (slot.samples > 0) return OkStatus();  // Sent again after a reconnect.
    TRIBUTARY_RETURN_IF_ERROR(network_.tail || waits() ? TakeEarly(slot, participant, batch)
                                                       : TakeAlone(slot, participant, batch));
    slot.samples = request_->BatchOf(participant);
    return OkStatus();
  }
  if (slot.samples == 0) return InvalidArgument("a gradient came over the cut before what it belongs to");
  if (!slot.gradient.empty()) return OkStatus();
  slot.gradient.assign(batch.values.begin(), batch.values.end());
  return waits() ? OkStatus() : GoBackAlone(slot, participant, slot.gradient);
}

Status ParallelSplitServer::TakeAlone(Slot& slot, std::size_t participant, const SplitBatch& batch) {
  Rng chance = ChanceOf(participant);
  PassOptions options{.label_smoothing = label_smoothing_, .rng = &chance, .input_gradient = true};
  std::unique_ptr<Bench> bench = TakeBench();
  const auto pass = bench->executor->Train({batch.values, batch.labels}, options);
  Status status = pass.ok() ? OkStatus() : pass.status();
  if (status.ok() && !std::isfinite(pass->loss)) status = Unsound(participant);
  if (status.ok()) {
    status = Add(participant, static_cast<double>(batch.labels.size()), bench->gradients.span(), 1, last_);
  }
  if (status.ok()) {
    const auto gradient = bench->executor->input_gradient();
    slot.replies[0] = SplitReply{{gradient.begin(), gradient.end()}, pass->loss, pass->correct};
  }
  GiveBack(std::move(bench));
  return status;
}

Status ParallelSplitServer::TakeEarly(Slot& slot, std::size_t participant, const SplitBatch& batch) {
  slot.labels.assign(batch.labels.begin(), batch.labels.end());
  if (late_ == 1) {
    slot.values.assign(batch.values.begin(), batch.values.end());
    return OkStatus();
  }
  if (!slot.early) {
    // Executors share memory for gradients: backward passes run one after the other.
    slot.early.emplace(network_.rest,
                       NetworkMemory{Writable(weights_.parameters), together_->statistics.span(),
                                     together_->gradients.span()});
  }
  Rng chance = ChanceOf(participant);
  const PassOptions options{.rng = &chance, .input_gradient = true};
  TRIBUTARY_ASSIGN_OR_RETURN(const auto values, slot.early->Forward(batch.values, late_ - 1, options));
  if (waits()) {
    slot.values.assign(values.begin(), values.end());
  } else {
    slot.replies[0] = SplitReply{{values.begin(), values.end()}, 0, 0};
  }
  return OkStatus();
}

Status ParallelSplitServer::GoBackAlone(Slot& slot, std::size_t participant,
                                        std::span<const float> gradient) {
  const MutexLock lock(mutex_);
  TRIBUTARY_RETURN_IF_ERROR(slot.early->Backward(gradient));
  TRIBUTARY_RETURN_IF_ERROR(
      Add(participant, static_cast<double>(slot.samples), together_->gradients.span(), 1, late_ - 1));
  const auto before = slot.early->input_gradient();
  slot.replies[network_.wire.crossings() - 1] = SplitReply{{before.begin(), before.end()}, 0, 0};
  return OkStatus();
}

Status ParallelSplitServer::Close(int crossing) {
  if (!waits()) return OkStatus();
  SetComputeThreads(1);
  if (crossing == 1) return GoBackTogether();
  members_.clear();
  for (std::size_t i = 0; i < request_->participants.size(); ++i) {
    if (slots_[i].samples > 0) members_.push_back(i);
  }
  return members_.empty() ? OkStatus() : GoTogether();
}

double ParallelSplitServer::SamplesOf(const std::vector<std::size_t>& those) const {
  double samples = 0;
  for (const std::size_t i : those) samples += static_cast<double>(slots_[i].samples);
  return samples;
}

void ParallelSplitServer::Gather() {
  joined_.clear();
  labels_.clear();
  for (const std::size_t i : members_) {
    const Slot& slot = slots_[i];
    joined_.insert(joined_.end(), slot.values.begin(), slot.values.end());
    labels_.insert(labels_.end(), slot.labels.begin(), slot.labels.end());
  }
  std::ranges::copy(weights_.statistics, together_->statistics.data());
}

StatusOr<bool> ParallelSplitServer::PassTogether(PassResult& result) {
  Gather();
  Rng chance = Rng::ForStream(seed_, DeviceId{0}, "rest-together", request_->round.value);
  const PassOptions options{
      .first = late_, .label_smoothing = label_smoothing_, .rng = &chance, .input_gradient = true};
  Executor& executor = *together_->executor;
  if (network_.tail) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto values, executor.Forward(joined_, last_, options));
    joined_.assign(values.begin(), values.end());
    return Finite(joined_) && WeightedSum::Check(together_->statistics.span()).ok();
  }
  TRIBUTARY_ASSIGN_OR_RETURN(result, executor.Train({joined_, labels_}, options));
  const auto gradient = executor.input_gradient();
  joined_.assign(gradient.begin(), gradient.end());
  return std::isfinite(result.loss) && SoundTogether();
}

Status ParallelSplitServer::GoTogether() {
  PassResult pass;
  TRIBUTARY_ASSIGN_OR_RETURN(bool sound, PassTogether(pass));
  if (!sound) {
    TRIBUTARY_RETURN_IF_ERROR(LeaveOutUnsound());
    TRIBUTARY_ASSIGN_OR_RETURN(sound, PassTogether(pass));
    if (!sound) return Unsound(members_.front());
  }
  const double samples = SamplesOf(members_);
  TRIBUTARY_RETURN_IF_ERROR(AddStatistics(members_.front(), samples));
  if (!network_.tail) {
    TRIBUTARY_RETURN_IF_ERROR(Add(members_.front(), samples, together_->gradients.span(), late_, last_));
    return ShareOut(members_, samples, pass.loss);
  }
  std::size_t offset = 0;
  for (const std::size_t i : members_) {
    const auto mine = std::span(joined_).subspan(offset, slots_[i].samples * network_.wire.tail_values);
    slots_[i].replies[0] = SplitReply{{mine.begin(), mine.end()}, 0, 0};
    offset += mine.size();
  }
  return OkStatus();
}

Status ParallelSplitServer::LeaveOutUnsound() {
  const std::vector<std::size_t> all = std::exchange(members_, {});
  std::vector<std::size_t> sound;
  for (const std::size_t i : all) {
    members_ = {i};
    PassResult pass;
    TRIBUTARY_ASSIGN_OR_RETURN(const bool mine, PassTogether(pass));
    if (mine) {
      sound.push_back(i);
    } else {
      slots_[i].samples = 0;
    }
  }
  members_ = std::move(sound);
  // If each is sound and the joint batch is not, no participant can be excluded.
  return members_.empty() || members_.size() == all.size() ? Unsound(all.front()) : OkStatus();
}

Status ParallelSplitServer::GoBackTogether() {
  std::vector<std::size_t> there;
  std::ranges::copy_if(members_, std::back_inserter(there),
                       [&](std::size_t i) { return !slots_[i].gradient.empty(); });
  if (there.empty()) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(bool sound, PassBack(there));
  if (!sound) {
    const std::vector<std::size_t> all = std::exchange(there, {});
    PassResult pass;
    for (const std::size_t i : all) {
      TRIBUTARY_RETURN_IF_ERROR(PassTogether(pass).status());
      TRIBUTARY_ASSIGN_OR_RETURN(const bool mine, PassBack({i}));
      if (mine) there.push_back(i);
    }
    if (there.empty() || there.size() == all.size()) return Unsound(all.front());
    TRIBUTARY_RETURN_IF_ERROR(PassTogether(pass).status());
    TRIBUTARY_ASSIGN_OR_RETURN(sound, PassBack(there));
    if (!sound) return Unsound(there.front());
  }
  const double samples = SamplesOf(there);
  TRIBUTARY_RETURN_IF_ERROR(Add(there.front(), samples, together_->gradients.span(), late_, last_));
  return ShareOut(there, samples, 0);
}

StatusOr<bool> ParallelSplitServer::PassBack(const std::vector<std::size_t>& those) {
  // `those` sent gradients of their own means; missing participants do not contribute to the joint mean.
  const double samples = SamplesOf(those);
  joined_.clear();
  for (const std::size_t i : members_) {
    const Slot& slot = slots_[i];
    if (std::ranges::find(those, i) == those.end()) {
      joined_.resize(joined_.size() + slot.samples * network_.wire.tail_values, 0);
      continue;
    }
    const auto share = static_cast<float>(static_cast<double>(slot.samples) / samples);
    for (const float value : slot.gradient) joined_.push_back(value * share);
  }
  Executor& executor = *together_->executor;
  TRIBUTARY_RETURN_IF_ERROR(executor.Backward(joined_));
  const auto gradient = executor.input_gradient();
  joined_.assign(gradient.begin(), gradient.end());
  return SoundTogether();
}

Status ParallelSplitServer::ShareOut(const std::vector<std::size_t>& those, double all, double loss) {
  const auto each = static_cast<std::size_t>(network_.rest->graph.shape(late_ - 1).elements());
  std::size_t offset = 0;
  for (const std::size_t i : members_) {
    Slot& slot = slots_[i];
    const auto mine = std::span(joined_).subspan(offset, slot.samples * each);
    offset += mine.size();
    if (std::ranges::find(those, i) == those.end()) continue;
    const auto factor = static_cast<float>(all / static_cast<double>(slot.samples));
    for (float& value : mine) value *= factor;
    SplitReply& reply = slot.replies[network_.wire.crossings() - 1].emplace();
    reply.loss = loss;
    if (late_ == 1) {
      reply.values.assign(mine.begin(), mine.end());
      continue;
    }
    TRIBUTARY_RETURN_IF_ERROR(slot.early->Backward(mine));
    if (!Add(i, static_cast<double>(slot.samples), together_->gradients.span(), 1, late_ - 1).ok()) {
      // Only its own gradients are not finite; others are not affected.
      slot.replies[network_.wire.crossings() - 1].reset();
      continue;
    }
    const auto before = slot.early->input_gradient();
    reply.values.assign(before.begin(), before.end());
  }
  return OkStatus();
}

const SplitReply* ParallelSplitServer::Reply(std::size_t participant, int crossing) const {
  const auto& reply = slots_[participant].replies[crossing];
  return reply ? &*reply : nullptr;
}

}  // namespace tributary::inline coordinator
