#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

struct ScheduleOptions {
  // `constant`, `step` or `cosine`.
  std::string name = "constant";
  // The rate at full height: where every schedule starts, or arrives after warming up.
  double learning_rate = 0.1;
  // The first so many steps climb to it in equal parts, the first step already taking one; 0 starts at full
  // height. More tames large batches and Adam's first steps.
  std::uint64_t warmup_steps = 0;
  // step: from each of these steps on (the first step of a run is 0), the rate is multiplied by `factor`.
  // Rising. They count from the start of the run, warm-up included; one past its end never comes.
  std::vector<std::uint64_t> milestones = {};
  // step: in (0, 1]; smaller cuts harder.
  double factor = 0.1;
  // cosine: the rate at the end of the run, from 0 to `learning_rate`; higher keeps learning to the last.
  double floor = 0;
};

// The learning rate as a function of the step and of how many the run has: no state, so that a resumed run
// needs nothing but its step. The same bits on every machine.
class Schedule {
 public:
  // Refused with a reason: unknown names, values out of range, and options of another schedule than the one
  // named.
  static StatusOr<Schedule> Make(ScheduleOptions options);

  // The rate of step `step`, the first being 0. The cosine falls from the end of the warm-up to the floor,
  // which it would reach at `total_steps` and keeps from there on; the others do not depend on `total_steps`.
  double LearningRate(std::uint64_t step, std::uint64_t total_steps) const;

 private:
  explicit Schedule(ScheduleOptions options) : options_(std::move(options)) {}

  double AfterWarmup(std::uint64_t step, std::uint64_t total_steps) const;

  ScheduleOptions options_;
};

}  // namespace tributary::inline policy
