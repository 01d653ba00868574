#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/status.h"

namespace tributary {

// What the coordinator knows of the clients whose samples make up the global batches.
struct SamplingProblem {
  // Samples of each client; some may have none, but not all.
  std::vector<std::int64_t> sizes;
  // label_counts[client][class], each client's adding up to its size; empty where labels are not known.
  std::vector<std::vector<std::int64_t>> label_counts;
  // How long a step takes each client, in any unit; empty where it is 1 for each.
  std::vector<double> delays;

  friend bool operator==(const SamplingProblem&, const SamplingProblem&) = default;
  double DelayOf(std::size_t client) const { return delays.empty() ? 1.0 : delays[client]; }
};

// A plan holds up to 8 bytes for a sample: with these bounds it stays below a gigabyte.
inline constexpr std::int64_t kMostPlannedSamples = 100'000'000;
inline constexpr std::size_t kMostPlannedClients = 1'000'000;
inline constexpr std::size_t kMostPlannedClasses = 100'000;

// Whether there is something to plan: lengths agree, nothing is negative or not a number, label counts add up, and
// the whole is no larger than the bounds above. Clients are named by their place, counted from 1.
Status CheckSamplingProblem(const SamplingProblem& problem);

// All samples of a problem that was found good.
std::int64_t TotalSamples(const SamplingProblem& problem);

}  // namespace tributary
