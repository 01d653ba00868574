#include "tributary/coordinator/split.h"

#include <algorithm>

#include "tributary/base/flat_buffer.h"
#include "tributary/coordinator/epoch.h"

namespace tributary {
namespace {

class Split : public RoundMethod {
 public:
  Split(const Experiment& experiment, SplitSetup setup, std::unique_ptr<Optimiser> optimiser,
        Schedule schedule)
      : experiment_(experiment),
        setup_(std::move(setup)),
        optimiser_(std::move(optimiser)),
        schedule_(std::move(schedule)),
        epochs_(experiment.sampling),
        sink_(setup_.parameters, setup_.statistics) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(experiment_, round);
    assignment.answer = TrainAssignment::Answer::kGradient;
    assignment.first = 0;  // of each device another
    return assignment;
  }

  Status Shape(const RoundScene& scene, RoundRequest& request) override {
    const std::uint64_t round = request.round.value;
    if (epochs_.AtEnd(round)) TRIBUTARY_RETURN_IF_ERROR(epochs_.Begin(round, ProblemOf(scene.devices)));
    Epochs::Step step = epochs_.StepOf(round);
    request.participants = std::move(step.devices);
    request.batches = std::move(step.batches);
    request.first = std::move(step.first);
    request.weights = HeldOf(scene.weights);
    request.server = setup_.half;
    setup_.half->Begin(request, scene);
    return OkStatus();
  }

  UpdateSink& Through(UpdateSink& whole) override {
    sink_.set_whole(whole);
    return sink_;
  }

  void BeginStep(RoundId round, double rate_factor) override {
    optimiser_->BeginStep(rate_factor * schedule_.LearningRate(round.value - 1, rounds()));
  }

  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    optimiser_->StepRange(offset, parameters, mean);
  }

  Optimiser& optimiser() override { return *optimiser_; }
  const EpochState* epoch() const override { return &epochs_.state(); }
  Status Restore(const EpochState& state) override { return epochs_.Restore(state); }

 private:
  std::uint64_t rounds() const { return static_cast<std::uint64_t>(experiment_.goal.rounds.value_or(0)); }

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

  // What devices have of the weights, in one piece.
  SharedWeights HeldOf(const SharedWeights& whole) {
    const auto gather = [](std::span<const float> values, const HeldRanges& ranges, FlatBuffer& buffer) {
      if (ranges.tail == 0) return values.first(ranges.front);
      if (buffer.size() == 0) buffer = FlatBuffer(ranges.size());
      std::ranges::copy(values.first(ranges.front), buffer.data());
      std::ranges::copy(values.last(ranges.tail), buffer.data() + ranges.front);
      return std::span<const float>(buffer.span());
    };
    return {gather(whole.parameters, setup_.parameters, parameters_),
            gather(whole.statistics, setup_.statistics, statistics_)};
  }

  const Experiment experiment_;
  const SplitSetup setup_;
  const std::unique_ptr<Optimiser> optimiser_;
  const Schedule schedule_;
  Epochs epochs_;
  HeldSink sink_;
  FlatBuffer parameters_, statistics_;
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeSplitMethod(const Experiment& experiment, std::size_t parameters,
                                                       SplitSetup setup) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto optimiser, MakeOptimiser(experiment.train.optimiser, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<Split>(experiment, std::move(setup), std::move(optimiser), std::move(schedule)));
}

}  // namespace tributary
