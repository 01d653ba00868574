#pragma once

#include <cstdint>

#include "tributary/base/status.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// What a sampler is told besides what is known of the clients.
struct SamplerScene {
  std::int64_t batch = 128;  // samples of all clients together that a step should have
  std::uint64_t seed = 0;    // of the experiment: whatever is left to chance follows from it and the epoch
  std::uint64_t epoch = 1;   // from 1
};

// A way of one's own to make global batches, beside those of sampling.h: who gives how many samples in each step of an
// epoch. Called on one thread, but by several runs at once if they share it, so it must not change.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // Whether the problem should have the clients' label counts, which real devices give only if their owners allow it, and
  // how long a step takes each of them.
  virtual bool UsesLabels() const { return false; }
  virtual bool UsesDelays() const { return false; }

  // A function of its arguments alone: a run that goes on after a crash plans its epoch again. Samples that a plan leaves
  // out are not trained on in this epoch. The problem has been found good.
  virtual SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene& scene) const = 0;
};

}  // namespace tributary::inline policy
