#include "tributary/coordinator/round_method.h"

namespace tributary {

TrainAssignment CommonAssignment(const Experiment& experiment, RoundId round) {
  TrainAssignment assignment;
  assignment.round = round;
  assignment.batch = static_cast<std::size_t>(experiment.train.batch);
  assignment.label_smoothing = experiment.train.label_smoothing;
  assignment.augment = experiment.train.augment;
  assignment.seed = experiment.goal.seed;
  return assignment;
}

}  // namespace tributary
