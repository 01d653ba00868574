#include "tributary/coordinator/epoch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace tributary::inline coordinator {
namespace {

// Devices of several sizes, among them one without samples, with labels and speeds that differ.
SamplingProblem Problem(std::size_t devices = 6) {
  SamplingProblem problem;
  for (std::size_t i = 0; i < devices; ++i) {
    const auto samples = static_cast<std::int64_t>(i == 2 ? 0 : 11 * i + 3);
    problem.sizes.push_back(samples);
    problem.label_counts.push_back({samples / 3, 0, 0, samples - samples / 3});
    std::ranges::rotate(problem.label_counts.back(),
                        problem.label_counts.back().begin() + static_cast<std::ptrdiff_t>(i % 4));
    problem.delays.push_back(i == 4 ? 10.0 : 1.0);
  }
  return problem;
}

std::vector<SamplingOptions> EveryMethod() {
  std::vector<SamplingOptions> all;
  for (const SamplingMethod method : kSamplingMethods)
    all.push_back({.method = method, .batch = 17, .seed = 5});
  return all;
}

// Rounds 1 … `rounds`, each epoch with what `problem_of` says for its number.
std::vector<Epochs::Step> Walk(Epochs& epochs, std::uint64_t first, std::uint64_t last,
                               const std::function<SamplingProblem(std::uint64_t)>& problem_of) {
  std::vector<Epochs::Step> steps;
  for (std::uint64_t round = first; round <= last; ++round) {
    if (epochs.AtEnd(round)) {
      EXPECT_TRUE(epochs.Begin(round, problem_of(epochs.state().number + 1)).ok());
    }
    steps.push_back(epochs.StepOf(round));
  }
  return steps;
}

TEST(Epochs, EverySampleComesOnceAnEpoch) {
  const SamplingProblem problem = Problem();
  for (const SamplingOptions& options : EveryMethod()) {
    SCOPED_TRACE(NameOf(options.method));
    Epochs epochs(options);
    std::uint64_t round = 1;
    for (std::int64_t number = 1; number <= 4; ++number) {
      ASSERT_TRUE(epochs.AtEnd(round));
      ASSERT_TRUE(epochs.Begin(round, problem).ok());
      EXPECT_EQ(epochs.state().number, static_cast<std::uint64_t>(number));
      EXPECT_EQ(epochs.state().began, round);
      std::map<std::pair<std::size_t, std::int64_t>, int> seen;  // (device, position)
      for (; !epochs.AtEnd(round); ++round) {
        const Epochs::Step step = epochs.StepOf(round);
        ASSERT_EQ(step.batches.size(), step.devices.size());
        ASSERT_EQ(step.first.size(), step.devices.size());
        ASSERT_FALSE(step.devices.empty());
        for (std::size_t i = 0; i < step.devices.size(); ++i) {
          EXPECT_GT(step.batches[i], 0U);
          for (std::size_t j = 0; j < step.batches[i]; ++j) {
            ++seen[{step.devices[i].value, step.first[i] + static_cast<std::int64_t>(j)}];
          }
        }
      }
      std::map<std::pair<std::size_t, std::int64_t>, int> wanted;
      for (std::size_t device = 0; device < problem.sizes.size(); ++device) {
        const std::int64_t size = problem.sizes[device];
        for (std::int64_t i = (number - 1) * size; i < number * size; ++i) wanted[{device, i}] = 1;
      }
      EXPECT_EQ(seen, wanted);
    }
  }
}

TEST(Epochs, EachStepAsksADeviceOnce) {
  for (const SamplingOptions& options : EveryMethod()) {
    Epochs epochs(options);
    for (const Epochs::Step& step : Walk(epochs, 1, 30, [](std::uint64_t) { return Problem(); })) {
      std::vector<std::uint64_t> devices;
      for (const DeviceId device : step.devices) devices.push_back(device.value);
      std::ranges::sort(devices);
      EXPECT_EQ(std::ranges::adjacent_find(devices), devices.end());
    }
  }
}

TEST(Epochs, ARoundAskedAgainIsTheSame) {
  for (const SamplingOptions& options : EveryMethod()) {
    SCOPED_TRACE(NameOf(options.method));
    Epochs epochs(options);
    ASSERT_TRUE(epochs.Begin(1, Problem()).ok());
    std::vector<Epochs::Step> steps;
    for (std::uint64_t round = 1; !epochs.AtEnd(round); ++round) {
      steps.push_back(epochs.StepOf(round));
      EXPECT_TRUE(epochs.StepOf(round) == steps.back());
    }
    for (const std::uint64_t round :
         {std::uint64_t{3}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{4}, std::uint64_t{2}}) {
      EXPECT_TRUE(epochs.StepOf(round) == steps[round - 1]) << round;
    }
  }
}

TEST(Epochs, AnEpochMayBeginAtAnyRound) {
  const SamplingOptions options{.batch = 17, .seed = 5};
  Epochs early(options), late(options);
  ASSERT_TRUE(early.Begin(1, Problem()).ok());
  ASSERT_TRUE(late.Begin(1000, Problem()).ok());
  for (std::uint64_t i = 0; !early.AtEnd(1 + i); ++i)
    EXPECT_TRUE(early.StepOf(1 + i) == late.StepOf(1000 + i));
}

TEST(Epochs, EpochsDiffer) {
  Epochs epochs({.batch = 17, .seed = 5});
  ASSERT_TRUE(epochs.Begin(1, Problem()).ok());
  const auto first = epochs.StepOf(1).batches;
  ASSERT_TRUE(epochs.Begin(50, Problem()).ok());
  EXPECT_NE(epochs.StepOf(50).batches, first);
}

// What a checkpoint keeps is enough, though the fleet's speeds have changed by then.
TEST(Epochs, ARestoredRunGoesOnAsIfNothingHadHappened) {
  const auto problem_of = [](std::uint64_t number) {
    SamplingProblem problem = Problem();
    problem.delays[1] = static_cast<double>(number);  // as measured at its start
    return problem;
  };
  for (const SamplingOptions& options : EveryMethod()) {
    SCOPED_TRACE(NameOf(options.method));
    Epochs uninterrupted(options);
    const std::vector<Epochs::Step> steps = Walk(uninterrupted, 1, 40, problem_of);
    for (const std::uint64_t crash : {1U, 5U, 12U, 23U, 24U, 25U, 39U}) {
      Epochs before(options);
      Walk(before, 1, crash, problem_of);
      const EpochState saved = before.state();
      Epochs after(options);
      ASSERT_TRUE(after.Restore(saved).ok());
      EXPECT_EQ(after.state(), saved);
      const std::vector<Epochs::Step> rest = Walk(after, crash + 1, 40, problem_of);
      EXPECT_TRUE(std::equal(rest.begin(), rest.end(), steps.begin() + static_cast<std::ptrdiff_t>(crash)))
          << crash;
    }
  }
}

TEST(Epochs, WhoIsRemovedIsInNoFurtherStepAlsoOfARestoredRun) {
  const std::vector<DeviceId> gone = {{5}, {77}};  // The second joined in the meantime.
  for (const SamplingOptions& options : EveryMethod()) {
    SCOPED_TRACE(NameOf(options.method));
    Epochs epochs(options);
    ASSERT_TRUE(epochs.Begin(1, Problem()).ok());
    (void)epochs.StepOf(1);
    ASSERT_TRUE(epochs.Remove(gone).ok());
    Epochs restored(options);
    ASSERT_TRUE(restored.Restore(epochs.state()).ok());
    EXPECT_EQ(epochs.state().problem.sizes[5], 0);
    for (std::uint64_t round = 2; !epochs.AtEnd(round); ++round) {
      ASSERT_FALSE(restored.AtEnd(round));
      const Epochs::Step step = epochs.StepOf(round);
      EXPECT_TRUE(step == restored.StepOf(round));
      EXPECT_EQ(std::ranges::count(step.devices, DeviceId{5}), 0);
    }
  }
}

TEST(Epochs, BeforeTheFirstEpochThereIsNothingToRestore) {
  Epochs epochs({});
  EXPECT_TRUE(epochs.AtEnd(1));
  ASSERT_TRUE(epochs.Restore({}).ok());
  EXPECT_TRUE(epochs.AtEnd(1));
  EXPECT_EQ(epochs.state(), EpochState{});
}

TEST(Epochs, DevicesThatCameInTheMeantimeJoinAtTheNextEpoch) {
  const auto problem_of = [](std::uint64_t number) { return Problem(number == 1 ? 3 : 6); };
  Epochs epochs({.batch = 17, .seed = 5});
  std::uint64_t round = 1;
  ASSERT_TRUE(epochs.Begin(round, problem_of(1)).ok());
  for (; !epochs.AtEnd(round); ++round) {
    for (const DeviceId device : epochs.StepOf(round).devices) EXPECT_LT(device.value, 3U);
  }
  EXPECT_EQ(round, 2U);  // 3 + 14 samples
  ASSERT_TRUE(epochs.Begin(round, problem_of(2)).ok());
  std::map<std::uint64_t, std::int64_t> least;
  for (; !epochs.AtEnd(round); ++round) {
    const Epochs::Step step = epochs.StepOf(round);
    for (std::size_t i = 0; i < step.devices.size(); ++i) {
      const auto [at, inserted] = least.emplace(step.devices[i].value, step.first[i]);
      if (!inserted) at->second = std::min(at->second, step.first[i]);
    }
  }
  // Everyone's second epoch begins where their first would have ended.
  EXPECT_EQ(least, (std::map<std::uint64_t, std::int64_t>{{0, 3}, {1, 14}, {3, 36}, {4, 47}, {5, 58}}));
}

TEST(Epochs, AnImpossibleProblemIsRefusedAndChangesNothing) {
  Epochs epochs({.batch = 17, .seed = 5});
  ASSERT_TRUE(epochs.Begin(1, Problem()).ok());
  const EpochState before = epochs.state();
  const Epochs::Step step = epochs.StepOf(2);
  EXPECT_FALSE(epochs.Begin(7, {}).ok());
  EXPECT_FALSE(epochs.Begin(7, {{0, 0}, {}, {}}).ok());
  EXPECT_FALSE(epochs.Begin(7, {{3, 4}, {}, {1}}).ok());
  EXPECT_EQ(epochs.state(), before);
  EXPECT_TRUE(epochs.StepOf(2) == step);
}

}  // namespace
}  // namespace tributary::inline coordinator
