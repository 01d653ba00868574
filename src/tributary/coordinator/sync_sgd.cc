#include "tributary/coordinator/round_method.h"

namespace tributary {
namespace {

class SyncSgd : public RoundMethod {
 public:
  SyncSgd(const Experiment& experiment, std::unique_ptr<Optimiser> optimiser, Schedule schedule)
      : experiment_(experiment), optimiser_(std::move(optimiser)), schedule_(std::move(schedule)) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(experiment_, round);
    assignment.answer = TrainAssignment::Answer::kGradient;
    return assignment;
  }

  std::vector<std::size_t> Share(const RoundRequest& request) const override {
    std::vector<std::size_t> batches;
    for (std::size_t i = 0; i < request.participants.size(); ++i) batches.push_back(request.BatchOf(i));
    return SharesOf(experiment_.injection, batches, experiment_.goal.seed, request.round);
  }

  void BeginStep(RoundId round, double rate_factor) override {
    optimiser_->BeginStep(rate_factor * schedule_.LearningRate(round.value - 1, rounds()));
  }

  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    optimiser_->StepRange(offset, parameters, mean);
  }

  Optimiser& optimiser() override { return *optimiser_; }

 private:
  std::uint64_t rounds() const { return static_cast<std::uint64_t>(experiment_.goal.rounds.value_or(0)); }

  const Experiment experiment_;
  const std::unique_ptr<Optimiser> optimiser_;
  const Schedule schedule_;
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeSyncSgd(const Experiment& experiment, std::size_t parameters) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto optimiser, MakeOptimiser(experiment.train.optimiser, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<SyncSgd>(experiment, std::move(optimiser), std::move(schedule)));
}

}  // namespace tributary
