#include "tributary/policy/optimisation/optimiser.h"

#include <array>
#include <cmath>
#include <limits>

#include "tributary/base/names.h"
#include "tributary/base/number_text.h"
#include "tributary/policy/optimisation/adam.h"
#include "tributary/policy/optimisation/sgd.h"

namespace tributary::inline policy {
namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();

// Comparisons are written so that NaN fails them.
Status CheckFraction(std::string_view what, double value) {
  if (value >= 0 && value < 1) return OkStatus();
  return InvalidArgument(std::string(what) + " must be at least 0 and less than 1, found " +
                         NumberText(value));
}

Status CheckSgd(const OptimiserOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("momentum", options.momentum));
  if (options.nesterov && options.momentum == 0) {
    return InvalidArgument("nesterov looks ahead along the momentum, which is 0; set momentum, e.g. to 0.9");
  }
  return OkStatus();
}

Status CheckAdam(const OptimiserOptions& options) {
  if (options.momentum != 0 || options.nesterov) {
    return InvalidArgument(
        "momentum and nesterov are options of sgd and have no meaning for adam; its beta1 is the"
        " share of the running mean that is kept");
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("beta1", options.beta1));
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("beta2", options.beta2));
  // It is used as a float: what rounds to zero there is zero.
  if (!(options.epsilon >= std::numeric_limits<float>::min() && options.epsilon <= kLargestFloat)) {
    return InvalidArgument("epsilon must be more than 0 and fit a 32-bit float, e.g. 1e-8, found " +
                           NumberText(options.epsilon));
  }
  return OkStatus();
}

}  // namespace

void Optimiser::BeginStep(double learning_rate) {
  TRIBUTARY_CHECK(learning_rate >= 0 && learning_rate <= kLargestFloat);
  ++steps_;
  Prepare(learning_rate);
  prepared_ = true;
}

void Optimiser::StepRange(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) {
  TRIBUTARY_CHECK(prepared_);
  TRIBUTARY_CHECK(parameters.size() == gradients.size());
  TRIBUTARY_CHECK(offset <= size_ && parameters.size() <= size_ - offset);
  Apply(offset, parameters, gradients);
}

void Optimiser::Step(std::span<float> parameters, std::span<const float> gradients, double learning_rate) {
  TRIBUTARY_CHECK(parameters.size() == size_);
  BeginStep(learning_rate);
  StepRange(0, parameters, gradients);
}

void Optimiser::set_steps(std::uint64_t steps) {
  steps_ = steps;
  prepared_ = false;
}

StatusOr<std::unique_ptr<Optimiser>> MakeOptimiser(const OptimiserOptions& options, std::size_t size) {
  static const std::array<std::string, 2> kNames = {"sgd", "adam"};
  if (options.name != "sgd" && options.name != "adam") return UnknownName("optimiser", options.name, kNames);
  if (!(options.weight_decay >= 0 && options.weight_decay <= kLargestFloat)) {
    return InvalidArgument("weight decay must be a finite number of at least 0, found " +
                           NumberText(options.weight_decay));
  }
  if (options.name == "sgd") {
    TRIBUTARY_RETURN_IF_ERROR(CheckSgd(options));
    return std::unique_ptr<Optimiser>(std::make_unique<Sgd>(options, size));
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckAdam(options));
  return std::unique_ptr<Optimiser>(std::make_unique<Adam>(options, size));
}

}  // namespace tributary::inline policy
