// Speed of planning epochs: at full size against targets, at a smaller size against the published samplers (a
// hypergeometric draw over all clients per step; a search through all weights per sample).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary {
namespace {

using bench::Median;

std::size_t g_sink = 0;  // prevents dead-code elimination

template <typename Work>
double Seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  g_sink += work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Clients of unequal size with two of ten classes each and exponential delays.
SamplingProblem RandomProblem(std::size_t clients, std::int64_t samples) {
  Rng rng(7);
  SamplingProblem problem;
  problem.sizes = Multinomial(rng, samples, Dirichlet(rng, std::vector<double>(clients, 3.0)));
  for (const std::int64_t size : problem.sizes) {
    std::vector<std::int64_t> counts(10, 0);
    const std::uint64_t first = rng.Below(10);
    counts[first] = Binomial(rng, size, rng.Uniform());
    counts[(first + 1 + rng.Below(9)) % 10] = size - counts[first];
    problem.label_counts.push_back(std::move(counts));
    problem.delays.push_back(0.1 + Gamma(rng, 1));
  }
  return problem;
}

std::size_t Plan(const SamplingProblem& problem, SamplingMethod method, std::int64_t batch,
                 double delta = 1) {
  SamplingOptions options;
  options.method = method;
  options.batch = batch;
  options.delta = delta;
  return PlanEpoch(problem, options, 0).steps();
}

std::size_t NaiveUniform(const SamplingProblem& problem, std::int64_t batch) {
  Rng rng(7);
  std::vector<std::int64_t> left = problem.sizes;
  std::size_t entries = 0;
  for (const std::int64_t size : StepSizes(TotalSamples(problem), batch)) {
    const auto taken = MultivariateHypergeometric(rng, left, size);
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] -= taken[i];
      entries += taken[i] > 0 ? 1 : 0;
    }
  }
  return entries;
}

// Without fitting the mixture, which both need.
std::size_t NaiveWeighted(const SamplingProblem& problem) {
  Rng rng(7);
  std::vector<std::int64_t> left = problem.sizes;
  std::size_t sum = 0;
  for (std::int64_t i = TotalSamples(problem); i > 0; --i) {
    double total = 0;
    for (std::size_t k = 0; k < left.size(); ++k) total += static_cast<double>(left[k]) * problem.delays[k];
    double place = rng.Uniform() * total;
    std::size_t k = 0, last = 0;
    for (; k < left.size() && place >= 0; ++k) {
      if (left[k] == 0) continue;
      place -= static_cast<double>(left[k]) * problem.delays[k];
      last = k;
    }
    --left[last];
    sum += last;
  }
  return sum;
}

int Main() {
  constexpr int kRounds = 5;
  constexpr std::int64_t kBatch = 1000;
  const SamplingProblem full = RandomProblem(10'000, 10'000'000);
  std::vector<double> uniform, dirichlet;
  for (int i = 0; i < kRounds; ++i) {
    uniform.push_back(Seconds([&] { return Plan(full, SamplingMethod::kUniformGlobal, kBatch); }));
    dirichlet.push_back(Seconds([&] { return Plan(full, SamplingMethod::kLatentDirichlet, kBatch); }));
  }
  std::printf("10,000 clients, 10,000,000 samples, batch 1,000, one core:\n");
  std::printf("  ugs      %6.2f s (target 1)\n", Median(uniform));
  std::printf("  lds      %6.2f s (target 5), %.1f x ugs\n", Median(dirichlet),
              Median(dirichlet) / Median(uniform));
  std::printf("  deadline %6.2f s\n", Seconds([&] { return Plan(full, SamplingMethod::kDeadline, kBatch); }));

  const SamplingProblem small = RandomProblem(1000, 200'000);
  std::vector<double> ours, naive, ours_weighted, naive_weighted;
  for (int i = 0; i < kRounds; ++i) {
    ours.push_back(Seconds([&] { return Plan(small, SamplingMethod::kUniformGlobal, 128); }));
    naive.push_back(Seconds([&] { return NaiveUniform(small, 128); }));
    ours_weighted.push_back(Seconds([&] { return Plan(small, SamplingMethod::kLatentDirichlet, 128); }));
    naive_weighted.push_back(Seconds([&] { return NaiveWeighted(small); }));
  }
  std::printf("1,000 clients, 200,000 samples, batch 128:\n");
  std::printf("  ugs      %6.1f ms, step by step      %7.1f ms: ratio %.1f x\n", 1e3 * Median(ours),
              1e3 * Median(naive), Median(naive) / Median(ours));
  std::printf("  lds      %6.1f ms, sample by sample  %7.1f ms: ratio %.1f x\n", 1e3 * Median(ours_weighted),
              1e3 * Median(naive_weighted), Median(naive_weighted) / Median(ours_weighted));
  return g_sink > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tributary

int main() { return tributary::Main(); }
