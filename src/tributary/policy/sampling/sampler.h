#pragma once

#include <cstdint>

#include "tributary/base/status.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// What a sampler knows besides the clients.
struct SamplerScene {
  std::int64_t batch = 128;  // global batch size: samples per step over all clients
  std::uint64_t seed = 0;    // of the experiment; randomness must depend only on seed and epoch
  std::uint64_t epoch = 1;   // from 1
};

// A custom way to make global batches, besides those of sampling.h. Called on one thread per run, but
// possibly by several runs at once, so it must be immutable.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // Whether the problem needs the clients' label counts (on real devices, the owner decides) or step times.
  virtual bool UsesLabels() const { return false; }
  virtual bool UsesDelays() const { return false; }

  // Must be a function of its arguments: a resumed run plans its epoch again. Samples left out are not used
  // in this epoch. The problem has been validated.
  virtual SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene& scene) const = 0;
};

}  // namespace tributary::inline policy
