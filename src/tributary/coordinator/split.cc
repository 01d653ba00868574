#include <algorithm>

#include "tributary/base/flat_buffer.h"
#include "tributary/coordinator/client_part_sink.h"
#include "tributary/coordinator/epoch.h"
#include "tributary/coordinator/round_method.h"
#include "tributary/coordinator/server_part.h"

namespace tributary::inline coordinator {
namespace {

// The way between what devices have of a cut network and the whole.
class ClientPart {
 public:
  explicit ClientPart(const SplitSetup& setup)
      : parameters_(setup.parameters),
        statistics_(setup.statistics),
        server_part_(*setup.server_part),
        sink_(setup.parameters, setup.statistics) {}

  // Devices get their part of the weights, and the coordinator's part begins the round.
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
  // What devices have of the values, in one piece.
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
  Split(const Experiment& experiment, SplitSetup setup, std::unique_ptr<Optimiser> optimiser,
        Schedule schedule)
      : ScheduledMethod(experiment, std::move(optimiser), std::move(schedule)),
        setup_(std::move(setup)),
        epochs_(experiment.sampling),
        client_part_(setup_) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(round);
    assignment.answer = TrainAssignment::Answer::kGradient;
    assignment.first = 0;  // of each device another
    return assignment;
  }

  Status PrepareRequest(const RoundScene& scene, WorkOrder& request) override {
    const std::uint64_t round = request.round.value;
    if (epochs_.AtEnd(round)) {
      SamplingProblem problem = ProblemOf(scene.devices);
      for (const std::size_t device : TakeOutUnplannable(problem)) {
        scene.note("device " + std::to_string(device) + " is left out of this epoch: it claims " +
                   std::to_string(scene.devices[device].samples) +
                   " samples, and what it says of itself cannot be planned with");
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

// To the fronts, a round is one of `federated`; the coordinator's part sees to itself.
class SplitFed : public RoundMethod {
 public:
  SplitFed(std::unique_ptr<RoundMethod> federated, const SplitSetup& setup)
      : federated_(std::move(federated)), server_part_(*setup.server_part), client_part_(setup) {}

  TrainAssignment Assign(RoundId round) const override { return federated_->Assign(round); }

  Status PrepareRequest(const RoundScene& scene, WorkOrder& request) override {
    client_part_.Begin(scene, request);
    return OkStatus();
  }

  UpdateSink& WrapSink(UpdateSink& whole) override { return client_part_.WrapSink(whole); }
  Status OnRoundAccepted(const RoundReport& report) override { return server_part_.OnRoundAccepted(report); }

  void BeginStep(RoundId round, double rate_factor) override { federated_->BeginStep(round, rate_factor); }
  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    federated_->StepRange(offset, mean, parameters);
  }
  Optimiser& optimiser() override { return federated_->optimiser(); }

 private:
  const std::unique_ptr<RoundMethod> federated_;
  ServerPart& server_part_;
  ClientPart client_part_;
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeSplitMethod(const Experiment& experiment, std::size_t parameters,
                                                       SplitSetup setup) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto optimiser, MakeOptimiser(experiment.train.optimiser, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<Split>(experiment, std::move(setup), std::move(optimiser), std::move(schedule)));
}

StatusOr<std::unique_ptr<RoundMethod>> MakeSplitFed(const Experiment& experiment, std::size_t parameters,
                                                    SplitSetup setup) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto federated, MakeFederated(experiment, parameters));
  return std::unique_ptr<RoundMethod>(std::make_unique<SplitFed>(std::move(federated), setup));
}

}  // namespace tributary::inline coordinator
