#include "tributary/policy/sampling/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tributary/policy/sampling/testing_problems.h"

namespace tributary::inline policy {
namespace {

void ExpectEverySampleOnce(const SamplingProblem& problem, const SamplingPlan& plan) {
  std::vector<std::int64_t> used(problem.sizes.size(), 0);
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    ASSERT_FALSE(plan.step(step).empty());
    std::int64_t last = -1;
    for (const ClientBatch& batch : plan.step(step)) {
      ASSERT_GT(std::int64_t{batch.client}, last);
      ASSERT_GT(batch.count, 0U);
      last = batch.client;
      used[batch.client] += batch.count;
    }
  }
  EXPECT_EQ(used, problem.sizes);
}

void ExpectNearEqualSteps(const SamplingProblem& problem, std::int64_t batch, const SamplingPlan& plan) {
  const std::int64_t total = TotalSamples(problem);
  ASSERT_EQ(static_cast<std::int64_t>(plan.steps()), (total + batch - 1) / batch);
  std::int64_t smallest = total, largest = 0;
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::int64_t size = 0;
    for (const ClientBatch& part : plan.step(step)) size += part.count;
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  EXPECT_LE(largest - smallest, 1);
  EXPECT_LE(largest, batch);
}

void ExpectGoodEpochs(const SamplingProblem& problem, SamplingOptions options) {
  ASSERT_TRUE(CheckSamplingProblem(problem).ok()) << CheckSamplingProblem(problem);
  for (const SamplingMethod method : kSamplingMethods) {
    for (const SamplingDraw draw : {SamplingDraw::kWeighted, SamplingDraw::kPi}) {
      options.method = method;
      options.draw = draw;
      const SamplingPlan plan = PlanEpoch(problem, options, 3);
      ExpectEverySampleOnce(problem, plan);
      EXPECT_EQ(static_cast<std::int64_t>(plan.steps()), EpochSteps(problem, options)) << NameOf(method);
      const bool draws = method == SamplingMethod::kUniformGlobal ||
                         method == SamplingMethod::kLatentDirichlet || method == SamplingMethod::kDeadline;
      if (draws) ExpectNearEqualSteps(problem, options.batch, plan);
      EXPECT_TRUE(plan == PlanEpoch(problem, options, 3))
          << "not a function of its arguments: " << NameOf(method);
    }
  }
}

TEST(Sampling, UsesEverySampleOnceUnderAnySizes) {
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    const auto kind = static_cast<DelayKind>(rng.Below(3));
    SamplingProblem problem =
        RandomSamplingProblem(rng, 1 + rng.Below(30), 1 + rng.Below(6), 1 + rng.Below(200), kind);
    if (i % 3 == 0) problem.label_counts.clear();
    if (i % 5 == 0) problem.delays.clear();
    SamplingOptions options;
    options.batch =
        static_cast<std::int64_t>(1 + rng.Below(1 + static_cast<std::uint64_t>(TotalSamples(problem)) / 3));
    options.delta = i % 4 == 0 ? 0 : Uniform(rng, -3, 8);
    options.concentration = i % 7 == 0 ? 1e-6 : 1;
    if (!problem.label_counts.empty() && i % 2 == 0) options.max_deviation = Uniform(rng, 0, 1);
    ExpectGoodEpochs(problem, options);
  }
}

TEST(Sampling, UsesEverySampleOnceAtTheEdges) {
  SamplingOptions options;
  const std::vector<std::vector<std::int64_t>> edges = {
      {1}, {2}, {1, 1}, {0, 7, 0}, {1000}, {999, 1}, {1, 0, 2500}, {0, 0, 1}, {1, 1, 1, 1}, {3, 5, 0, 8}};
  for (const auto& sizes : edges) {
    for (const std::int64_t batch : {1, 2, 7, 128, 1'000'000}) {
      for (const double delta : {0.0, 1.0, 1000.0, -1000.0}) {
        SamplingProblem problem{sizes, {}, {}};
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          problem.label_counts.push_back({sizes[i] / 2, sizes[i] - sizes[i] / 2});
          problem.delays.push_back(static_cast<double>(i * i));  // the first takes no time at all
        }
        options.batch = batch;
        options.delta = delta;
        ExpectGoodEpochs(problem, options);
      }
    }
  }
}

TEST(Sampling, FixedBatchesAreRoundedAndLastUntilClientsAreEmpty) {
  SamplingOptions options;
  options.batch = 10;
  options.method = SamplingMethod::kEqual;
  const SamplingProblem problem{{7, 1, 4, 0}, {}, {}};
  const auto batches = [&](std::size_t step) {
    const SamplingPlan plan = PlanEpoch(problem, options, 0);
    const auto span = plan.step(step);
    return std::vector<ClientBatch>(span.begin(), span.end());
  };
  // 10/4 rounds to 3 each.
  EXPECT_EQ(batches(0), (std::vector<ClientBatch>{{0, 3}, {1, 1}, {2, 3}}));
  EXPECT_EQ(batches(1), (std::vector<ClientBatch>{{0, 3}, {2, 1}}));
  EXPECT_EQ(batches(2), (std::vector<ClientBatch>{{0, 1}}));
  // 10 · 7/12, 10/12 and 10 · 4/12 round to 6, 1 and 3.
  options.method = SamplingMethod::kProportional;
  EXPECT_EQ(batches(0), (std::vector<ClientBatch>{{0, 6}, {1, 1}, {2, 3}}));
  EXPECT_EQ(batches(1), (std::vector<ClientBatch>{{0, 1}, {2, 1}}));
}

TEST(Sampling, SequentialGoesThroughOneClientAfterTheOther) {
  const SamplingProblem problem{{5, 0, 4, 1}, {}, {}};
  const SamplingOptions options{.method = SamplingMethod::kSequential, .batch = 2};
  const SamplingPlan plan = PlanEpoch(problem, options, 1);
  ASSERT_EQ(plan.steps(), 6U);
  EXPECT_EQ(EpochSteps(problem, options), 6);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted = {{0, 2}, {0, 2}, {0, 1},
                                                                       {2, 2}, {2, 2}, {3, 1}};
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    ASSERT_EQ(plan.step(step).size(), 1U);
    EXPECT_EQ(plan.step(step)[0].client, wanted[step].first);
    EXPECT_EQ(plan.step(step)[0].count, wanted[step].second);
  }
  EXPECT_TRUE(PlanEpoch(problem, options, 2) == plan);  // nothing is drawn
}

TEST(Sampling, EveryWordIsParsedBack) {
  for (const SamplingMethod method : kSamplingMethods)
    EXPECT_EQ(ParseSamplingMethod(NameOf(method)).value(), method);
  for (const SamplingDraw draw : kSamplingDraws) EXPECT_EQ(ParseSamplingDraw(NameOf(draw)).value(), draw);
  for (const StepOrder order : kStepOrders) EXPECT_EQ(ParseStepOrder(NameOf(order)).value(), order);
  EXPECT_EQ(NameOf(SamplingMethod::kSequential), "sequential");
  EXPECT_EQ(NameOf(SamplingDraw::kPi), "pi");
  EXPECT_EQ(NameOf(StepOrder::kEarly), "early");
  EXPECT_EQ(ParseSamplingMethod("sequental").status().message(),
            "unknown sampling method 'sequental'; did you mean 'sequential'? Known: fls, fpls, ugs, lds, "
            "deadline, sequential");
  EXPECT_EQ(ParseSamplingDraw("").status().message(), "unknown draw ''. Known: weighted, pi");
  EXPECT_EQ(ParseStepOrder("earl").status().message(),
            "unknown order 'earl'; did you mean 'early'? Known: shuffled, early");
}

TEST(Sampling, LabelsAndDelaysAreForThoseThatWeighThem) {
  for (const SamplingMethod method : kSamplingMethods) {
    const bool weighs = method == SamplingMethod::kLatentDirichlet || method == SamplingMethod::kDeadline;
    EXPECT_EQ(UsesLabels({.method = method}), weighs);
    EXPECT_EQ(UsesDelays({.method = method}), weighs);
  }
}

TEST(Sampling, EarlyAndShuffledHaveTheSameSteps) {
  Rng rng(8);
  const SamplingProblem problem = RandomSamplingProblem(rng, 12, 4, 100, DelayKind::kExponential);
  for (const SamplingMethod method : {SamplingMethod::kLatentDirichlet, SamplingMethod::kDeadline}) {
    SamplingOptions options;
    options.method = method;
    options.batch = 16;
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> steps[2];
    for (const StepOrder order : {StepOrder::kShuffled, StepOrder::kEarly}) {
      options.order = order;
      const SamplingPlan plan = PlanEpoch(problem, options, 0);
      auto& list = steps[order == StepOrder::kEarly ? 1 : 0];
      for (std::size_t i = 0; i < plan.steps(); ++i) {
        list.emplace_back();
        for (const ClientBatch& batch : plan.step(i)) list.back().emplace_back(batch.client, batch.count);
      }
    }
    EXPECT_NE(steps[0], steps[1]);
    std::sort(steps[0].begin(), steps[0].end());
    std::sort(steps[1].begin(), steps[1].end());
    EXPECT_EQ(steps[0], steps[1]);
  }
}

void ExpectRefused(const SamplingProblem& problem, const std::string& words) {
  const Status status = CheckSamplingProblem(problem);
  ASSERT_FALSE(status.ok()) << words;
  EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
}

TEST(SamplingProblem, LosesOnlyTheClientsWhoseClaimsCannotBePlanned) {
  Rng rng(11);
  for (int trial = 0; trial < 200; ++trial) {
    SamplingProblem problem = RandomSamplingProblem(rng, 8, 3, 100, DelayKind::kExponential);
    const SamplingProblem honest = problem;
    std::vector<std::size_t> liars;
    for (std::size_t i = 1; i < problem.sizes.size(); ++i) {
      if (rng.Below(3) != 0) continue;
      liars.push_back(i);
      switch (rng.Below(4)) {
        case 0:  // Alone it could be planned, with the others not.
          problem.label_counts[i][0] += kMostPlannedSamples - problem.sizes[i];
          problem.sizes[i] = kMostPlannedSamples;
          break;
        case 1:
          problem.sizes[i] = rng.Below(2) == 0 ? -1 : INT64_MAX;
          break;
        case 2:
          ++problem.label_counts[i][0];
          break;
        default:
          problem.delays[i] = std::numeric_limits<double>::infinity();
      }
    }
    EXPECT_EQ(TakeOutUnplannable(problem), liars);
    EXPECT_TRUE(CheckSamplingProblem(problem).ok()) << CheckSamplingProblem(problem);
    for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
      const bool liar = std::ranges::find(liars, i) != liars.end();
      EXPECT_EQ(problem.sizes[i], liar ? 0 : honest.sizes[i]);
      if (liar) continue;
      EXPECT_EQ(problem.label_counts[i], honest.label_counts[i]);
      EXPECT_EQ(problem.delays[i], honest.delays[i]);
    }
  }
}

TEST(SamplingProblem, RefusesWhatMakesNoSense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ExpectRefused({{}, {}, {}}, "no clients");
  ExpectRefused({{3, -2}, {}, {}}, "size of client 2 is -2");
  ExpectRefused({{0, 0}, {}, {}}, "no client has a sample");
  ExpectRefused({{INT64_MAX, INT64_MAX}, {}, {}}, "more than 100000000");
  ExpectRefused({{60'000'000, 60'000'000}, {}, {}}, "more than 100000000");
  ExpectRefused({{3}, {}, {1, 2}}, "2 delays and 1 sizes");
  ExpectRefused({{3}, {}, {kNan}}, "delay of client 1 is nan");
  ExpectRefused({{3}, {}, {kInfinity}}, "delay of client 1 is inf");
  ExpectRefused({{3}, {}, {-1}}, "delay of client 1 is -1");
  ExpectRefused({{3}, {{3}, {1}}, {}}, "label counts of 2 clients");
  ExpectRefused({{3, 1}, {{3, 0}, {1}}, {}}, "client 2 has label counts of 1 classes");
  ExpectRefused({{3}, {{1, 1}}, {}}, "sum to 2, not its size 3");
  ExpectRefused({{3}, {{INT64_MAX, INT64_MAX}}, {}}, "more than its size 3");
  ExpectRefused({{3}, {{4, -1}}, {}}, "more than its size 3");
  ExpectRefused({{3}, {{3, -1}}, {}}, "-1 samples of class 1");
}

TEST(SamplingOptions, RefusesWhatMakesNoSense) {
  SamplingOptions options;
  EXPECT_TRUE(CheckSamplingOptions(options).ok());
  options.batch = 0;
  EXPECT_FALSE(CheckSamplingOptions(options).ok());
  options = {};
  options.delta = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(CheckSamplingOptions(options).ok());
  options = {};
  options.concentration = 0;
  EXPECT_FALSE(CheckSamplingOptions(options).ok());
  options = {};
  options.max_deviation = -0.1;
  EXPECT_FALSE(CheckSamplingOptions(options).ok());
  EXPECT_NE(ParseSamplingMethod("usg").status().message().find("did you mean 'ugs'"), std::string::npos);
  EXPECT_NE(ParseSamplingDraw("weigthed").status().message().find("did you mean 'weighted'"),
            std::string::npos);
  EXPECT_NE(ParseStepOrder("erly").status().message().find("did you mean 'early'"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
