#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

struct ScheduleOptions {
  // `constant`, `step` or `cosine`.
  std::string name = "constant";
  // The peak rate: where a schedule starts, or arrives after the warm-up.
  double learning_rate = 0.1;
  // Steps of linear warm-up; 0 starts at the peak. Stabilises large batches and Adam's first steps.
  std::uint64_t warmup_steps = 0;
  // step: the rate is multiplied by `factor` at each of these steps. Ascending, counted from the start of the
  // run (step 0), including the warm-up.
  std::vector<std::uint64_t> milestones = {};
  // step: in (0, 1].
  double factor = 0.1;
  // cosine: the final rate, from 0 to `learning_rate`.
  double floor = 0;
};

// The learning rate as a function of the step and the number of steps. Stateless, so a resumed run needs only
// its step. Bit-identical on every machine.
class Schedule {
 public:
  // Refuses unknown names, values out of range, and options of another schedule.
  static StatusOr<Schedule> Make(ScheduleOptions options);

  // The rate of step `step`, counted from 0. The cosine falls from the end of the warm-up to the floor at
  // `total_steps` and stays there; the other schedules ignore `total_steps`.
  double LearningRate(std::uint64_t step, std::uint64_t total_steps) const;

 private:
  explicit Schedule(ScheduleOptions options) : options_(std::move(options)) {}

  ScheduleOptions options_;
};

}  // namespace tributary::inline policy
