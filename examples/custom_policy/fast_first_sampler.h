#pragma once

#include <tributary/tributary.h>

// A global batch of the fastest devices that have samples left, as few of them as it takes: an epoch begins with short steps
// and ends with the long ones of the slow.
class FastFirstSampler : public tributary::Sampler {
 public:
  bool UsesDelays() const override { return true; }
  tributary::SamplingPlan Plan(const tributary::SamplingProblem& problem,
                               const tributary::SamplerScene& scene) const override;
};
