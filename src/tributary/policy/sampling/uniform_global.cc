#include "tributary/policy/sampling/uniform_global.h"

#include <span>
#include <vector>

#include "tributary/base/distributions.h"

namespace tributary {
namespace {

// A uniformly random order, as Shuffle makes, without its jumps through memory: every item goes to a pile that is drawn for
// it, and each pile, which fits into a cache, is shuffled (Rao and Sandelius).
std::vector<std::uint32_t> ShuffledInPiles(const std::vector<std::uint32_t>& items, Rng& rng) {
  constexpr std::size_t kPiles = 256;
  std::vector<std::uint8_t> pile(items.size());
  std::size_t ends[kPiles] = {};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    bits = i % 8 == 0 ? rng.Next() : bits >> 8;
    pile[i] = static_cast<std::uint8_t>(bits & 0xff);
    ++ends[pile[i]];
  }
  std::size_t next[kPiles] = {};
  for (std::size_t i = 1; i < kPiles; ++i) {
    next[i] = ends[i - 1];
    ends[i] += ends[i - 1];
  }
  std::vector<std::uint32_t> shuffled(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) shuffled[next[pile[i]]++] = items[i];
  for (std::size_t i = 0; i < kPiles; ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    Shuffle(rng, std::span(shuffled).subspan(begin, ends[i] - begin));
  }
  return shuffled;
}

}  // namespace

SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng) {
  const std::vector<std::int64_t> step_sizes = StepSizes(TotalSamples(problem), batch);
  // Shuffling the steps' numbers over the samples, and not the clients' over the steps, leaves the clients of each step
  // in order: nothing needs to be sorted.
  std::vector<std::uint32_t> step_of_sample;
  step_of_sample.reserve(static_cast<std::size_t>(TotalSamples(problem)));
  for (std::uint32_t step = 0; step < step_sizes.size(); ++step) {
    step_of_sample.insert(step_of_sample.end(), static_cast<std::size_t>(step_sizes[step]), step);
  }
  return PlanFromSteps(problem.sizes, ShuffledInPiles(step_of_sample, rng), step_sizes.size());
}

}  // namespace tributary
