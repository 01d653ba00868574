#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "tributary/policy/sampling/sampling.h"
#include "tributary/policy/sampling/testing_problems.h"

namespace tributary::inline policy {
namespace {

// An epoch as a matrix, step after step, clients within.
using Table = std::vector<std::int64_t>;

Table Dense(const SamplingPlan& plan, std::size_t clients) {
  Table table(plan.steps() * clients, 0);
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    for (const ClientBatch& batch : plan.step(step)) table[step * clients + batch.client] = batch.count;
  }
  return table;
}

double LogFactorial(std::int64_t n) { return std::lgamma(static_cast<double>(n) + 1); }

// With all samples in one place, shuffled and cut: the chance of a table with these sums is
// Π sizes! · Π step sizes! / (N! · Π cells!).
double CentralisedChance(const Table& table, const std::vector<std::int64_t>& sizes,
                         const std::vector<std::int64_t>& steps) {
  std::int64_t total = 0;
  double log_chance = 0;
  for (const std::int64_t size : sizes) {
    log_chance += LogFactorial(size);
    total += size;
  }
  for (const std::int64_t step : steps) log_chance += LogFactorial(step);
  for (const std::int64_t cell : table) log_chance -= LogFactorial(cell);
  return std::exp(log_chance - LogFactorial(total));
}

// All epochs at once, so that dependence between steps is tested too. Tables that are expected fewer than 10 times are
// one cell. The statistic has mean `cells - 1` and variance twice that: five standard deviations are allowed, which a
// right sampler passes but for about one seed in a hundred thousand.
void ExpectCentralisedLaw(const SamplingProblem& problem, const SamplingOptions& options) {
  constexpr int kEpochs = 60'000;
  const std::vector<std::int64_t> steps = StepSizes(TotalSamples(problem), options.batch);
  std::map<Table, int> seen;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    ++seen[Dense(PlanEpoch(problem, options, epoch), problem.sizes.size())];
  }
  double chi_square = 0, rare_expected = kEpochs, rare_seen = kEpochs;
  int cells = 1;
  for (const auto& [table, count] : seen) {
    const double expected = kEpochs * CentralisedChance(table, problem.sizes, steps);
    if (expected < 10) continue;
    chi_square += (count - expected) * (count - expected) / expected;
    rare_expected -= expected;
    rare_seen -= count;
    ++cells;
  }
  chi_square += (rare_seen - rare_expected) * (rare_seen - rare_expected) / std::max(rare_expected, 1.0);
  ASSERT_GT(cells, 20);
  EXPECT_LT(chi_square, cells - 1 + 5 * std::sqrt(2.0 * (cells - 1))) << cells << " cells";
}

// Labels, and delays that must not matter.
SamplingProblem SmallProblem(std::vector<std::int64_t> sizes) {
  SamplingProblem problem{std::move(sizes), {}, {}};
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    problem.label_counts.push_back(std::vector<std::int64_t>(problem.sizes.size(), 0));
    problem.label_counts[i][i] = problem.sizes[i];
    problem.delays.push_back(1 + 3.0 * static_cast<double>(i));
  }
  return problem;
}

TEST(UniformGlobalSampling, HasTheLawOfCentralisedSampling) {
  SamplingOptions options;
  options.batch = 4;
  ExpectCentralisedLaw(SmallProblem({5, 3, 2}), options);
  options.batch = 3;
  ExpectCentralisedLaw(SmallProblem({4, 0, 1, 4}), options);
}

TEST(LatentDirichletSampling, WithoutDeltaHasTheLawOfCentralisedSampling) {
  SamplingOptions options;
  options.method = SamplingMethod::kLatentDirichlet;
  options.delta = 0;
  options.order = StepOrder::kEarly;
  options.batch = 4;
  ExpectCentralisedLaw(SmallProblem({5, 3, 2}), options);
  options.order = StepOrder::kShuffled;  // over steps of one size: mixing different ones would mix their laws
  options.batch = 3;
  ExpectCentralisedLaw(SmallProblem({4, 0, 1, 4}), options);
}

// The test can fail: draws from π put too many of the small clients into the first steps.
TEST(LatentDirichletSampling, PublishedDrawsHaveNotThatLaw) {
  SamplingOptions options;
  options.method = SamplingMethod::kLatentDirichlet;
  options.delta = 0;
  options.order = StepOrder::kEarly;
  options.draw = SamplingDraw::kPi;
  options.batch = 4;
  const SamplingProblem problem = SmallProblem({5, 3, 2});
  constexpr int kEpochs = 20'000;
  double last_client_in_last_step = 0;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    last_client_in_last_step += static_cast<double>(Dense(PlanEpoch(problem, options, epoch), 3)[2 * 3 + 0]);
  }
  // Centralised: 3 · 5/10 on average.
  EXPECT_GT(std::abs(last_client_in_last_step / kEpochs - 1.5), 0.05);
}

// Mean squared distance of batches to their expectation, over the variance of centralised sampling.
TEST(LatentDirichletSampling, PublishedDrawsHaveItsVarianceUntilAClientRunsOut) {
  SamplingOptions options;
  options.method = SamplingMethod::kLatentDirichlet;
  options.delta = 0;
  options.order = StepOrder::kEarly;
  options.draw = SamplingDraw::kPi;
  options.batch = 50;
  const SamplingProblem problem = SmallProblem({100, 150, 200, 250, 300, 350, 400, 450, 500, 300});
  const auto total = static_cast<double>(TotalSamples(problem));
  double before = 0, before_expected = 0, whole = 0, whole_expected = 0;
  for (std::uint64_t epoch = 0; epoch < 400; ++epoch) {
    const SamplingPlan plan = PlanEpoch(problem, options, epoch);
    const Table table = Dense(plan, problem.sizes.size());
    std::vector<std::int64_t> left = problem.sizes;
    bool all_left = true;
    for (std::size_t step = 0; step < plan.steps(); ++step) {
      double squares = 0, expected = 0;
      for (std::size_t client = 0; client < left.size(); ++client) {
        const std::int64_t count = table[step * left.size() + client];
        const double share = static_cast<double>(problem.sizes[client]) / total;
        squares += (static_cast<double>(count) - 50 * share) * (static_cast<double>(count) - 50 * share);
        expected += 50 * share * (1 - share) * (total - 50) / (total - 1);
        left[client] -= count;
        all_left &= left[client] > 0;
      }
      whole += squares;
      whole_expected += expected;
      if (all_left) {
        before += squares;
        before_expected += expected;
      }
    }
  }
  std::printf(
      "draws from pi, variance over that of ugs: %.3f until a client runs out, %.3f in the whole epoch\n",
      before / before_expected, whole / whole_expected);
  EXPECT_NEAR(before / before_expected, 1, 0.15);
  EXPECT_GT(whole / whole_expected, before / before_expected);
}

TEST(LatentDirichletSampling, SpendsSlowClientsFirst) {
  SamplingProblem problem = SmallProblem(std::vector<std::int64_t>(16, 300));
  for (std::size_t i = 0; i < 16; ++i) problem.delays[i] = i < 2 ? 10 : 1;
  SamplingOptions options;
  options.method = SamplingMethod::kLatentDirichlet;
  options.order = StepOrder::kEarly;
  double before = 1e9;
  for (const double delta : {0.0, 0.5, 1.0, 2.0}) {
    options.delta = delta;
    const SamplingPlan plan = PlanEpoch(problem, options, 0);
    double slow_steps = 0;
    for (std::size_t step = 0; step < plan.steps(); ++step)
      slow_steps += plan.step(step)[0].client < 2 ? 1 : 0;
    EXPECT_LE(slow_steps, before) << delta;
    before = slow_steps;
  }
  // 600 samples need five steps of 128.
  EXPECT_LE(before, 12);
}

}  // namespace
}  // namespace tributary::inline policy
