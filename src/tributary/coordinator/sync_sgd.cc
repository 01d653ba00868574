#include "tributary/coordinator/round_method.h"

namespace tributary::inline coordinator {
namespace {

class SyncSgd : public ScheduledMethod {
 public:
  using ScheduledMethod::ScheduledMethod;

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(round);
    assignment.answer = TrainAssignment::Answer::kGradient;
    return assignment;
  }

  std::vector<std::size_t> SharedSamples(const WorkOrder& request) const override {
    std::vector<std::size_t> batches;
    for (std::size_t i = 0; i < request.participants.size(); ++i) batches.push_back(request.BatchOf(i));
    return SharesOf(experiment_.injection, batches, experiment_.goal.seed, request.round);
  }
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeSyncSgd(const Experiment& experiment, std::size_t parameters) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto optimiser, MakeOptimiser(experiment.train.optimiser, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<SyncSgd>(experiment, std::move(optimiser), std::move(schedule)));
}

}  // namespace tributary::inline coordinator
