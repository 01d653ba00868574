#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tributary/base/distributions.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

enum class DelayKind { kFewSlow, kExponential, kLevels };

// Clients with up to `most` samples, some with few or none, each of up to three of `classes` classes.
inline SamplingProblem RandomSamplingProblem(Rng& rng, std::size_t clients, std::size_t classes,
                                             std::uint64_t most, DelayKind delays) {
  SamplingProblem problem;
  const std::uint64_t parts = 1 + rng.Below(3);
  for (std::size_t client = 0; client < clients; ++client) {
    const auto size =
        static_cast<std::int64_t>(rng.Below(3) == 0 ? rng.Below(most / 10 + 1) : rng.Below(most + 1));
    std::vector<std::int64_t> counts(classes, 0);
    for (std::int64_t left = size; left > 0;) {
      const std::int64_t part = std::min(left, size / static_cast<std::int64_t>(parts) + 1);
      counts[rng.Below(classes)] += part;
      left -= part;
    }
    problem.sizes.push_back(size);
    problem.label_counts.push_back(std::move(counts));
    problem.delays.push_back(delays == DelayKind::kFewSlow       ? (rng.Below(8) == 0 ? 10.0 : 1.0)
                             : delays == DelayKind::kExponential ? 0.1 + Gamma(rng, 1)
                                                                 : static_cast<double>(1 + rng.Below(5)));
  }
  // At least one sample.
  ++problem.sizes[0];
  ++problem.label_counts[0][0];
  return problem;
}

}  // namespace tributary::inline policy
