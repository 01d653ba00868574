#include "tributary/coordinator/round_method.h"

namespace tributary::inline coordinator {

ScheduledMethod::ScheduledMethod(const Experiment& experiment, std::unique_ptr<Optimiser> optimiser,
                                 Schedule schedule)
    : experiment_(experiment), optimiser_(std::move(optimiser)), schedule_(std::move(schedule)) {}

void ScheduledMethod::BeginStep(RoundId round, double rate_factor) {
  optimiser_->BeginStep(rate_factor * LearningRate(round));
}

void ScheduledMethod::StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) {
  optimiser_->StepRange(offset, parameters, mean);
}

double ScheduledMethod::LearningRate(RoundId round) const {
  return schedule_.LearningRate(round.value - 1,
                                static_cast<std::uint64_t>(experiment_.goal.rounds.value_or(0)));
}

TrainAssignment ScheduledMethod::CommonAssignment(RoundId round) const {
  TrainAssignment assignment;
  assignment.round = round;
  assignment.batch = static_cast<std::size_t>(experiment_.train.batch);
  assignment.label_smoothing = experiment_.train.label_smoothing;
  assignment.augment = experiment_.train.augment;
  assignment.seed = experiment_.goal.seed;
  return assignment;
}

TrainAssignment ScheduledMethod::LocalAssignment(RoundId round) const {
  TrainAssignment assignment = CommonAssignment(round);
  assignment.steps = static_cast<int>(experiment_.train.local_steps.value_or(1));
  assignment.epochs = static_cast<int>(experiment_.train.local_epochs.value_or(0));
  assignment.optimiser = experiment_.train.optimiser;
  assignment.learning_rate = LearningRate(round);
  return assignment;
}

}  // namespace tributary::inline coordinator
