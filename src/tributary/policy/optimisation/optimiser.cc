#include "tributary/policy/optimisation/optimiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/names.h"
#include "tributary/base/number_text.h"

namespace tributary::inline policy {
namespace {

struct SgdFactors {
  float rate;
  float momentum;
  float decay;
};

// One pass over memory. Unused terms are removed at compile time, so that each variant is a plain loop that
// vectorises. Momentum starts at zero, so the first step needs no special case.
template <bool kDecay, bool kMomentum, bool kNesterov>
void SgdPass(SgdFactors factors, std::size_t count, float* __restrict parameters,
             const float* __restrict gradients, float* __restrict momentum) {
  for (std::size_t i = 0; i < count; ++i) {
    float direction = gradients[i];
    if constexpr (kDecay) direction += factors.decay * parameters[i];
    if constexpr (kMomentum) {
      const float kept = factors.momentum * momentum[i] + direction;
      momentum[i] = kept;
      direction = kNesterov ? direction + factors.momentum * kept : kept;
    }
    parameters[i] -= factors.rate * direction;
  }
}

using SgdPassFunction = void (*)(SgdFactors, std::size_t, float*, const float*, float*);

template <bool kDecay>
SgdPassFunction Choose(const OptimiserOptions& options) {
  if (options.momentum == 0) return SgdPass<kDecay, false, false>;
  return options.nesterov ? SgdPass<kDecay, true, true> : SgdPass<kDecay, true, false>;
}

// SGD with momentum, as PyTorch's torch.optim.SGD with dampening 0:
//
//   direction = gradient + weight_decay · parameter
//   momentum  = momentum_factor · momentum + direction
//   parameter −= learning_rate · (momentum, or with nesterov direction + momentum_factor · momentum)
//
// The learning rate is outside the momentum: a change acts at once. State: `momentum`, or none without it.
class Sgd final : public Optimiser {
 public:
  Sgd(const OptimiserOptions& options, std::size_t size)
      : Optimiser(size),
        factors_{0, static_cast<float>(options.momentum), static_cast<float>(options.weight_decay)},
        pass_(factors_.decay != 0 ? Choose<true>(options) : Choose<false>(options)),
        momentum_(options.momentum == 0 ? 0 : size) {}

  std::vector<StateArray> State() override {
    if (momentum_.size() == 0) return {};
    return {{"momentum", momentum_.span()}};
  }

 private:
  void Prepare(double learning_rate) override { factors_.rate = static_cast<float>(learning_rate); }
  void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) override {
    pass_(factors_, parameters.size(), parameters.data(), gradients.data(),
          momentum_.size() != 0 ? momentum_.data() + offset : nullptr);
  }

  SgdFactors factors_;
  const SgdPassFunction pass_;
  FlatBuffer momentum_;
};

struct AdamFactors {
  float rate;
  float keep_mean, add_mean;
  float keep_square, add_square;
  float root_correction;
  float epsilon;
  float decay;
};

// Vectorises only if sqrt need not set errno (see the folder's CMakeLists.txt).
template <bool kDecay>
void AdamPass(AdamFactors factors, std::size_t count, float* __restrict parameters,
              const float* __restrict gradients, float* __restrict mean, float* __restrict square) {
  for (std::size_t i = 0; i < count; ++i) {
    float gradient = gradients[i];
    if constexpr (kDecay) gradient += factors.decay * parameters[i];
    mean[i] = factors.keep_mean * mean[i] + factors.add_mean * gradient;
    square[i] = factors.keep_square * square[i] + factors.add_square * gradient * gradient;
    const float scale = std::sqrt(square[i]) / factors.root_correction + factors.epsilon;
    parameters[i] -= factors.rate * mean[i] / scale;
  }
}

// Exponentiation by squaring: std::pow may differ in the last bit between C libraries.
double Power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

// Adam as torch.optim.Adam: weight decay in the gradient, bias-corrected means, epsilon outside the root:
//
//   gradient += weight_decay · parameter
//   mean      = beta1 · mean + (1 − beta1) · gradient
//   square    = beta2 · square + (1 − beta2) · gradient²
//   parameter −= learning_rate / (1 − beta1^t) · mean / (√square / √(1 − beta2^t) + epsilon)
//
// t counts the steps begun for all elements, including those left out of a step. State: `mean` and `square`.
class Adam final : public Optimiser {
 public:
  Adam(const OptimiserOptions& options, std::size_t size)
      : Optimiser(size),
        beta1_(options.beta1),
        beta2_(options.beta2),
        factors_{0,
                 static_cast<float>(beta1_),
                 static_cast<float>(1 - beta1_),
                 static_cast<float>(beta2_),
                 static_cast<float>(1 - beta2_),
                 0,
                 static_cast<float>(options.epsilon),
                 static_cast<float>(options.weight_decay)},
        mean_(size),
        square_(size) {}

  std::vector<StateArray> State() override { return {{"mean", mean_.span()}, {"square", square_.span()}}; }

 private:
  void Prepare(double learning_rate) override {
    factors_.rate = static_cast<float>(learning_rate / (1 - Power(beta1_, steps())));
    factors_.root_correction = static_cast<float>(std::sqrt(1 - Power(beta2_, steps())));
  }
  void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) override {
    const auto pass = factors_.decay != 0 ? AdamPass<true> : AdamPass<false>;
    pass(factors_, parameters.size(), parameters.data(), gradients.data(), mean_.data() + offset,
         square_.data() + offset);
  }

  const double beta1_, beta2_;
  AdamFactors factors_;
  FlatBuffer mean_, square_;
};

struct ServerFactors {
  float rate;
  float keep_mean, add_mean;
  float keep_square, add_square;
  float tau;
};

// Vectorises like AdamPass.
template <bool kYogi>
void ServerPass(ServerFactors factors, std::size_t count, float* __restrict parameters,
                const float* __restrict gradients, float* __restrict mean, float* __restrict square) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i];
    const float news = gradient * gradient;
    mean[i] = factors.keep_mean * mean[i] + factors.add_mean * gradient;
    if constexpr (kYogi) {
      const float sign = static_cast<float>(square[i] > news) - static_cast<float>(square[i] < news);
      square[i] -= factors.add_square * news * sign;
    } else {
      square[i] = factors.keep_square * square[i] + factors.add_square * news;
    }
    parameters[i] -= factors.rate * mean[i] / (std::sqrt(square[i]) + factors.tau);
  }
}

class AdaptiveServerOptimiser final : public Optimiser {
 public:
  AdaptiveServerOptimiser(const ServerOptimiserOptions& options, std::size_t size)
      : Optimiser(size),
        pass_(options.name == "yogi" ? ServerPass<true> : ServerPass<false>),
        factors_{0,
                 static_cast<float>(options.beta1),
                 static_cast<float>(1 - options.beta1),
                 static_cast<float>(options.beta2),
                 static_cast<float>(1 - options.beta2),
                 static_cast<float>(options.tau)},
        mean_(size),
        square_(size) {
    std::fill_n(square_.data(), size, factors_.tau * factors_.tau);
  }

  std::vector<StateArray> State() override { return {{"mean", mean_.span()}, {"square", square_.span()}}; }

 private:
  void Prepare(double learning_rate) override { factors_.rate = static_cast<float>(learning_rate); }

  void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) override {
    pass_(factors_, parameters.size(), parameters.data(), gradients.data(), mean_.data() + offset,
          square_.data() + offset);
  }

  using ServerPassFunction = void (*)(ServerFactors, std::size_t, float*, const float*, float*, float*);
  const ServerPassFunction pass_;
  ServerFactors factors_;
  FlatBuffer mean_, square_;
};

constexpr double kLargestFloat = std::numeric_limits<float>::max();

// Comparisons are written so that NaN is refused.
Status CheckFraction(std::string_view what, double value) {
  if (value >= 0 && value < 1) return OkStatus();
  return InvalidArgument(std::string(what) + " must be at least 0 and less than 1, found " +
                         NumberText(value));
}

// The value is used as a float: subnormal floats count as zero.
Status CheckPositive(const std::string& what, const std::string& usual, double value) {
  if (value >= std::numeric_limits<float>::min() && value <= kLargestFloat) return OkStatus();
  return InvalidArgument(what + " must be more than 0 and fit a 32-bit float, e.g. " + usual + ", found " +
                         NumberText(value));
}

Status CheckSgd(const OptimiserOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("momentum", options.momentum));
  if (options.nesterov && options.momentum == 0) {
    return InvalidArgument("nesterov needs momentum, which is 0; set momentum, e.g. to 0.9");
  }
  return OkStatus();
}

Status CheckAdam(const OptimiserOptions& options) {
  if (options.momentum != 0 || options.nesterov) {
    return InvalidArgument(
        "momentum and nesterov are only valid with sgd; adam has beta1, the decay of its running mean");
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("beta1", options.beta1));
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("beta2", options.beta2));
  return CheckPositive("epsilon", "1e-8", options.epsilon);
}

Status CheckAdaptive(const ServerOptimiserOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("beta1", options.beta1));
  TRIBUTARY_RETURN_IF_ERROR(CheckFraction("beta2", options.beta2));
  return CheckPositive("tau", "1e-3", options.tau);
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

StatusOr<std::unique_ptr<Optimiser>> MakeServerOptimiser(const ServerOptimiserOptions& options,
                                                         std::size_t size) {
  static const std::array<std::string, 4> kNames = {"none", "momentum", "adam", "yogi"};
  if (std::ranges::find(kNames, options.name) == kNames.end())
    return UnknownName("server optimiser", options.name, kNames);
  // Sgd implements the first two.
  if (options.name == "none") return MakeOptimiser({}, size);
  if (options.name == "momentum") {
    return MakeOptimiser({.momentum = options.momentum}, size);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckAdaptive(options));
  return std::unique_ptr<Optimiser>(std::make_unique<AdaptiveServerOptimiser>(options, size));
}

}  // namespace tributary::inline policy
