#include "tributary/policy/optimisation/sgd.h"

namespace tributary::inline policy {
namespace {

struct SgdFactors {
  float rate;
  float momentum;
  float decay;
};

// One pass over memory; what is not in use is left out at compile time, so that each variant is a plain loop
// that vectorises. The momentum of the first step is the direction itself without a special case: it starts
// at zero.
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

using PassFunction = void (*)(SgdFactors, std::size_t, float*, const float*, float*);

template <bool kDecay>
PassFunction Choose(bool momentum, bool nesterov) {
  if (!momentum) return SgdPass<kDecay, false, false>;
  return nesterov ? SgdPass<kDecay, true, true> : SgdPass<kDecay, true, false>;
}

}  // namespace

Sgd::Sgd(const OptimiserOptions& options, std::size_t size)
    : Optimiser(size),
      factor_(static_cast<float>(options.momentum)),
      decay_(static_cast<float>(options.weight_decay)),
      nesterov_(options.nesterov),
      momentum_(options.momentum == 0 ? 0 : size) {}

std::vector<Optimiser::StateArray> Sgd::State() {
  if (momentum_.size() == 0) return {};
  return {{"momentum", momentum_.span()}};
}

void Sgd::Prepare(double learning_rate) { rate_ = static_cast<float>(learning_rate); }

void Sgd::Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) {
  const bool momentum = momentum_.size() != 0;
  const PassFunction pass =
      decay_ != 0 ? Choose<true>(momentum, nesterov_) : Choose<false>(momentum, nesterov_);
  pass({rate_, factor_, decay_}, parameters.size(), parameters.data(), gradients.data(),
       momentum ? momentum_.data() + offset : nullptr);
}

}  // namespace tributary::inline policy
