#include "tributary/fleet/assignment.h"

namespace tributary {

double MostWeight(const TrainAssignment& assignment, std::int64_t samples) {
  if (assignment.epochs > 0) return static_cast<double>(assignment.epochs) * static_cast<double>(samples);
  return static_cast<double>(assignment.steps) * static_cast<double>(assignment.batch);
}

}  // namespace tributary
