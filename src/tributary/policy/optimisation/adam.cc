#include "tributary/policy/optimisation/adam.h"

#include <cmath>

namespace tributary::inline policy {
namespace {

struct AdamFactors {
  float rate;
  float keep_mean, add_mean;
  float keep_square, add_square;
  float root_correction;
  float epsilon;
  float decay;
};

// One pass over memory. Vectorises only where the root need not set errno (see the folder's CMakeLists.txt).
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

// By squaring, with multiplications only: std::pow may differ in the last bit between C libraries.
double Power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

Adam::Adam(const OptimiserOptions& options, std::size_t size)
    : Optimiser(size),
      beta1_(options.beta1),
      beta2_(options.beta2),
      epsilon_(static_cast<float>(options.epsilon)),
      decay_(static_cast<float>(options.weight_decay)),
      mean_(size),
      square_(size) {}

std::vector<Optimiser::StateArray> Adam::State() {
  return {{"mean", mean_.span()}, {"square", square_.span()}};
}

void Adam::Prepare(double learning_rate) {
  rate_ = static_cast<float>(learning_rate / (1 - Power(beta1_, steps())));
  root_correction_ = static_cast<float>(std::sqrt(1 - Power(beta2_, steps())));
}

void Adam::Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) {
  const AdamFactors factors = {rate_,
                               static_cast<float>(beta1_),
                               static_cast<float>(1 - beta1_),
                               static_cast<float>(beta2_),
                               static_cast<float>(1 - beta2_),
                               root_correction_,
                               epsilon_,
                               decay_};
  const auto pass = decay_ != 0 ? AdamPass<true> : AdamPass<false>;
  pass(factors, parameters.size(), parameters.data(), gradients.data(), mean_.data() + offset,
       square_.data() + offset);
}

}  // namespace tributary::inline policy
