#include "tributary/coordinator/round_method.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/base/flat_buffer.h"
#include "tributary/coordinator/epoch.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/policy/mixing/mixer.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline coordinator {
namespace {

// A method with an optimiser and a learning-rate schedule. By default, BeginStep and StepRange take the
// round's mean as a gradient, for one optimiser step at the round's rate.
class ScheduledMethod : public RoundMethod {
 public:
  ScheduledMethod(const Experiment& experiment, std::unique_ptr<Optimiser> optimiser, Schedule schedule)
      : experiment_(experiment), optimiser_(std::move(optimiser)), schedule_(std::move(schedule)) {}

  void BeginStep(RoundId round, double rate_factor) override {
    optimiser_->BeginStep(rate_factor * LearningRate(round));
  }
  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    optimiser_->StepRange(offset, parameters, mean);
  }
  Optimiser& optimiser() override { return *optimiser_; }

 protected:
  double LearningRate(RoundId round) const {
    return schedule_.LearningRate(round.value - 1,
                                  static_cast<std::uint64_t>(experiment_.goal.rounds.value_or(0)));
  }

  // The part of an assignment that does not depend on the method: batches and how they are read.
  TrainAssignment CommonAssignment(RoundId round, TrainAssignment::Answer answer) const {
    TrainAssignment assignment;
    assignment.round = round;
    assignment.answer = answer;
    assignment.batch = static_cast<std::size_t>(experiment_.train.batch);
    assignment.label_smoothing = experiment_.train.label_smoothing;
    assignment.augment = experiment_.train.augment;
    assignment.seed = experiment_.goal.seed;
    return assignment;
  }

  // The same for devices that take several steps with their own optimisers.
  TrainAssignment LocalAssignment(RoundId round, TrainAssignment::Answer answer) const {
    TrainAssignment assignment = CommonAssignment(round, answer);
    assignment.steps = static_cast<int>(experiment_.train.local_steps.value_or(1));
    assignment.epochs = static_cast<int>(experiment_.train.local_epochs.value_or(0));
    assignment.optimiser = experiment_.train.optimiser;
    assignment.learning_rate = LearningRate(round);
    return assignment;
  }

  const Experiment experiment_;

 private:
  const std::unique_ptr<Optimiser> optimiser_;
  const Schedule schedule_;
};

class SyncSgd : public ScheduledMethod {
 public:
  using ScheduledMethod::ScheduledMethod;

  TrainAssignment Assign(RoundId round) const override {
    return CommonAssignment(round, TrainAssignment::Answer::kGradient);
  }

  std::vector<std::size_t> SharedSamples(const WorkOrder& request) const override {
    std::vector<std::size_t> batches;
    for (std::size_t i = 0; i < request.participants.size(); ++i) batches.push_back(request.BatchOf(i));
    return SharesOf(experiment_.injection, batches, experiment_.goal.seed, request.round);
  }
};

class Federated : public ScheduledMethod {
 public:
  using ScheduledMethod::ScheduledMethod;

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = LocalAssignment(round, TrainAssignment::Answer::kChange);
    assignment.prox = experiment_.train.prox;
    return assignment;
  }

  void BeginStep(RoundId, double rate_factor) override {
    optimiser().BeginStep(rate_factor * experiment_.train.server_optimiser.learning_rate);
  }

  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    // Optimisers expect gradients, which point against the devices' changes.
    for (float& change : mean) change = -change;
    ScheduledMethod::StepRange(offset, mean, parameters);
  }
};

// Plans which neighbours average. The coordinator's model is the devices' mean when it was last collected.
class Gossip : public ScheduledMethod {
 public:
  Gossip(const Experiment& experiment, std::unique_ptr<Optimiser> none, Schedule schedule, Mixer mixer)
      : ScheduledMethod(experiment, std::move(none), std::move(schedule)), mixer_(std::move(mixer)) {}

  TrainAssignment Assign(RoundId round) const override {
    return LocalAssignment(round, TrainAssignment::Answer::kGossip);
  }

  Status PrepareRequest(const RoundScene& scene, WorkOrder& request) override {
    if (experiment_.gossip.batches == BatchSizes::kSpeed) {
      std::vector<double> speeds;
      for (const DeviceId device : request.participants)
        speeds.push_back(scene.devices[device.value].compute.value);
      LimitToMedian(experiment_.trust.largest_share, std::span(speeds));
      request.batches = SpeedBatches(request.training().batch, speeds);
    }
    const auto rows = mixer_.Weights(request.round.value);
    for (const DeviceId device : request.participants) {
      auto& neighbours = request.neighbours.emplace_back();
      if (device.value >= rows.size()) continue;  // It joined a complete fleet, and trains alone.
      for (const Neighbour& neighbour : rows[device.value]) {
        const DeviceId peer{neighbour.node};
        if (std::ranges::find(request.participants, peer) != request.participants.end()) {
          neighbours.push_back({peer, neighbour.weight});
        }
      }
      std::ranges::sort(neighbours, {}, &NeighbourWeight::peer);
    }
    return OkStatus();
  }

  bool devices_own_models() const override { return true; }
  void BeginStep(RoundId, double) override {}
  void StepRange(std::size_t, std::span<float> mean, std::span<float> parameters) override {
    std::ranges::copy(mean, parameters.begin());
  }

 private:
  const Mixer mixer_;
};

// Converts between the client part of a split network and the whole network.
class ClientPart {
 public:
  explicit ClientPart(const SplitSetup& setup)
      : parameters_(setup.parameters),
        statistics_(setup.statistics),
        server_part_(*setup.server_part),
        sink_(setup.parameters, setup.statistics) {}

  // Gives devices their part of the weights, and starts the round of the server part.
  void Begin(const RoundScene& scene, WorkOrder& request) {
    request.weights = {Gather(scene.weights.parameters, parameters_, gathered_parameters_),
                       Gather(scene.weights.statistics, statistics_, gathered_statistics_)};
    request.server = &server_part_;
    server_part_.Begin(request, scene);
  }

  UpdateSink& WrapSink(UpdateSink& whole) {
    sink_.set_whole(whole);
    return sink_;
  }

 private:
  // The client part of the values, contiguous.
  static std::span<const float> Gather(std::span<const float> values, const ClientPartRanges& ranges,
                                       FlatBuffer& buffer) {
    if (ranges.tail == 0) return values.first(ranges.front);
    if (buffer.size() == 0) buffer = FlatBuffer(ranges.size());
    std::ranges::copy(values.first(ranges.front), buffer.data());
    std::ranges::copy(values.last(ranges.tail), buffer.data() + ranges.front);
    return buffer.span();
  }

  const ClientPartRanges parameters_, statistics_;
  ServerPart& server_part_;
  ClientPartSink sink_;
  FlatBuffer gathered_parameters_, gathered_statistics_;
};

class Split : public ScheduledMethod {
 public:
  Split(const Experiment& experiment, std::unique_ptr<Optimiser> optimiser, Schedule schedule,
        const SplitSetup& setup)
      : ScheduledMethod(experiment, std::move(optimiser), std::move(schedule)),
        setup_(setup),
        epochs_(experiment.sampling),
        client_part_(setup_) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(round, TrainAssignment::Answer::kGradient);
    assignment.first = 0;  // set per device
    return assignment;
  }

  Status PrepareRequest(const RoundScene& scene, WorkOrder& request) override {
    const std::uint64_t round = request.round.value;
    if (epochs_.AtEnd(round)) {
      SamplingProblem problem = ProblemOf(scene.devices);
      LimitSizes(experiment_.trust.largest_share, problem);
      for (const std::size_t device : TakeOutUnplannable(problem)) {
        scene.note(
            fmt::format("device {} is left out of this epoch: it reports {} samples, and its report "
                        "cannot be used for planning",
                        device, scene.devices[device].samples));
      }
      TRIBUTARY_RETURN_IF_ERROR(epochs_.Begin(round, std::move(problem)));
    }
    Epochs::Step step = epochs_.StepOf(round);
    request.participants = std::move(step.devices);
    request.batches = std::move(step.batches);
    request.first = std::move(step.first);
    client_part_.Begin(scene, request);
    return OkStatus();
  }

  UpdateSink& WrapSink(UpdateSink& whole) override { return client_part_.WrapSink(whole); }
  const EpochState* epoch() const override { return &epochs_.state(); }
  Status Restore(const EpochState& state) override { return epochs_.Restore(state); }
  Status Remove(std::span<const DeviceId> devices) override { return epochs_.Remove(devices); }

 private:
  SamplingProblem ProblemOf(std::span<const DeviceProfile> devices) const {
    SamplingProblem problem;
    bool labels = true;
    for (const DeviceProfile& device : devices) {
      problem.sizes.push_back(device.samples);
      problem.label_counts.push_back(device.label_counts);
      labels = labels && (device.samples == 0 || !device.label_counts.empty());
    }
    if (!labels || !UsesLabels(experiment_.sampling)) problem.label_counts.clear();
    for (auto& counts : problem.label_counts) {
      if (counts.empty()) counts.assign(setup_.classes, 0);
    }
    if (UsesDelays(experiment_.sampling)) problem.delays = setup_.delays(devices);
    return problem;
  }

  const SplitSetup setup_;
  Epochs epochs_;
  ClientPart client_part_;
};

// For the fronts a round is one of `federated`; the server part updates itself.
class SplitFed : public Federated {
 public:
  SplitFed(const Experiment& experiment, std::unique_ptr<Optimiser> optimiser, Schedule schedule,
           const SplitSetup& setup)
      : Federated(experiment, std::move(optimiser), std::move(schedule)),
        server_part_(*setup.server_part),
        client_part_(setup) {}

  Status PrepareRequest(const RoundScene& scene, WorkOrder& request) override {
    client_part_.Begin(scene, request);
    return OkStatus();
  }

  UpdateSink& WrapSink(UpdateSink& whole) override { return client_part_.WrapSink(whole); }
  Status OnRoundAccepted(const RoundReport& report) override { return server_part_.OnRoundAccepted(report); }

 private:
  ServerPart& server_part_;
  ClientPart client_part_;
};

// The optimiser of the coordinator's model.
StatusOr<std::unique_ptr<Optimiser>> OptimiserOf(const Experiment& experiment, bool averages,
                                                 std::size_t parameters) {
  // A mean has no optimiser state.
  if (experiment.train.method == Method::kGossip) return MakeServerOptimiser({.name = "none"}, parameters);
  if (!averages) return MakeOptimiser(experiment.train.optimiser, parameters);
  const ServerOptimiser& server = experiment.train.server_optimiser;
  return MakeServerOptimiser({.name = std::string(NameOf(kServerOptimisers, server.kind)),
                              .momentum = server.momentum,
                              .beta1 = server.beta1,
                              .beta2 = server.beta2,
                              .tau = server.tau},
                             parameters);
}

}  // namespace

Status ClientPartSink::AppendInWhole(const UpdatePiece& piece, std::vector<UpdatePiece>& pieces) const {
  const ClientPartRanges& ranges = piece.part == UpdatePart::kParameters ? parameters_ : statistics_;
  TRIBUTARY_RETURN_IF_ERROR(CheckUpdateRange(piece, ranges.size()));
  const std::size_t before =
      std::min(piece.values.size(), ranges.front - std::min(ranges.front, piece.offset));
  if (before == 0 || before == piece.values.size()) {
    pieces.push_back(piece);
    pieces.back().offset = ranges.InWhole(piece.offset);
    return OkStatus();
  }
  pieces.push_back({piece.part, piece.offset, piece.values.first(before), piece.weight});
  pieces.push_back(
      {piece.part, ranges.InWhole(piece.offset + before), piece.values.subspan(before), piece.weight});
  return OkStatus();
}

Status ClientPartSink::Stage(WorkId work, const UpdatePiece& piece) {
  std::vector<UpdatePiece> pieces;
  TRIBUTARY_RETURN_IF_ERROR(AppendInWhole(piece, pieces));
  for (const UpdatePiece& part : pieces) TRIBUTARY_RETURN_IF_ERROR(whole_->Stage(work, part));
  return OkStatus();
}

Status ClientPartSink::Take(WorkId work, std::span<const UpdatePiece> pieces) {
  std::vector<UpdatePiece> in_whole;
  for (const UpdatePiece& piece : pieces) TRIBUTARY_RETURN_IF_ERROR(AppendInWhole(piece, in_whole));
  return whole_->Take(work, in_whole);
}

StatusOr<std::unique_ptr<RoundMethod>> MakeRoundMethod(const Experiment& experiment, std::size_t parameters,
                                                       const SplitSetup* split) {
  const Method method = experiment.train.method;
  const bool splits = method == Method::kSplit;
  TRIBUTARY_CHECK(!splits || split != nullptr);
  const bool averages = method == Method::kFederated || (splits && experiment.split.averages());
  TRIBUTARY_ASSIGN_OR_RETURN(auto optimiser, OptimiserOf(experiment, averages, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  const auto make = [&]<typename Made>(std::type_identity<Made>, auto&&... more) {
    return std::unique_ptr<RoundMethod>(std::make_unique<Made>(
        experiment, std::move(optimiser), std::move(schedule), std::forward<decltype(more)>(more)...));
  };
  if (splits && averages) return make(std::type_identity<SplitFed>(), *split);
  if (splits) return make(std::type_identity<Split>(), *split);
  if (averages) return make(std::type_identity<Federated>());
  if (method == Method::kSyncSgd) return make(std::type_identity<SyncSgd>());
  const auto nodes = static_cast<std::size_t>(TotalDevices(experiment.fleet));
  TRIBUTARY_ASSIGN_OR_RETURN(Mixer mixer, Mixer::Make(experiment.gossip.mixing, nodes, experiment.goal.seed));
  return make(std::type_identity<Gossip>(), std::move(mixer));
}

}  // namespace tributary::inline coordinator
