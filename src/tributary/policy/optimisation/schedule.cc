#include "tributary/policy/optimisation/schedule.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numbers>

#include "tributary/base/names.h"
#include "tributary/base/number_text.h"

namespace tributary::inline policy {
namespace {

// The cosine on [0, π/2] by its Taylor series, to 1e-19: std::cos may differ between machines.
double QuarterCosine(double x) {
  double sum = 1;
  for (int term = 12; term >= 1; --term) {
    sum = 1 - x * x / (2.0 * term * (2.0 * term - 1)) * sum;
  }
  return sum;
}

// Comparisons are written so that NaN is refused.
Status Check(const ScheduleOptions& options) {
  static const std::array<std::string, 3> kNames = {"constant", "step", "cosine"};
  if (std::find(kNames.begin(), kNames.end(), options.name) == kNames.end()) {
    return UnknownName("schedule", options.name, kNames);
  }
  if (!(options.learning_rate > 0 && options.learning_rate <= std::numeric_limits<float>::max())) {
    return InvalidArgument("the learning rate must be more than 0 and fit a 32-bit float, found " +
                           NumberText(options.learning_rate));
  }
  if (options.name == "step") {
    if (options.milestones.empty()) {
      return InvalidArgument("the step schedule needs milestones: the steps at which the rate falls");
    }
    const auto fall = std::ranges::adjacent_find(options.milestones, std::greater_equal<>());
    if (fall != options.milestones.end()) {
      return InvalidArgument("milestones must rise, found " + std::to_string(fall[0]) + " before " +
                             std::to_string(fall[1]));
    }
    if (!(options.factor > 0 && options.factor <= 1)) {
      return InvalidArgument("the factor of the step schedule must be more than 0 and at most 1, found " +
                             NumberText(options.factor));
    }
  } else if (!options.milestones.empty()) {
    return InvalidArgument("milestones are only valid with the step schedule, found '" + options.name + "'");
  }
  if (!(options.floor >= 0 && options.floor <= options.learning_rate)) {
    return InvalidArgument("the floor must be from 0 to the learning rate, " +
                           NumberText(options.learning_rate) + ", found " + NumberText(options.floor));
  }
  if (options.floor != 0 && options.name != "cosine") {
    return InvalidArgument("a floor is only valid with the cosine schedule, found '" + options.name + "'");
  }
  return OkStatus();
}

}  // namespace

StatusOr<Schedule> Schedule::Make(ScheduleOptions options) {
  TRIBUTARY_RETURN_IF_ERROR(Check(options));
  return Schedule(std::move(options));
}

double Schedule::LearningRate(std::uint64_t step, std::uint64_t total_steps) const {
  double rate = options_.learning_rate;
  if (options_.name == "step") {
    for (const std::uint64_t milestone : options_.milestones) {
      if (step >= milestone) rate *= options_.factor;
    }
  } else if (options_.name == "cosine" && step >= options_.warmup_steps) {
    if (step >= total_steps) return options_.floor;
    const double done = static_cast<double>(step - options_.warmup_steps) /
                        static_cast<double>(total_steps - options_.warmup_steps);
    // (1 + cos πx) / 2 = cos²(πx / 2), which needs the series only up to π/2.
    const double root = QuarterCosine(done * std::numbers::pi / 2);
    rate = options_.floor + (options_.learning_rate - options_.floor) * (root * root);
  }
  if (step >= options_.warmup_steps) return rate;
  return rate * (static_cast<double>(step + 1) / static_cast<double>(options_.warmup_steps));
}

}  // namespace tributary::inline policy
