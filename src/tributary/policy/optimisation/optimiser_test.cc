#include "tributary/policy/optimisation/optimiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

OptimiserOptions SgdOptions(double momentum, bool nesterov, double weight_decay) {
  OptimiserOptions options;
  options.momentum = momentum;
  options.nesterov = nesterov;
  options.weight_decay = weight_decay;
  return options;
}

OptimiserOptions AdamOptions(double weight_decay) {
  OptimiserOptions options;
  options.name = "adam";
  options.weight_decay = weight_decay;
  return options;
}

std::vector<OptimiserOptions> EveryKind() {
  return {SgdOptions(0, false, 0),
          SgdOptions(0, false, 0.01),
          SgdOptions(0.9, false, 0),
          SgdOptions(0.9, true, 0),
          SgdOptions(0.9, false, 5e-4),
          SgdOptions(0.9, true, 5e-4),
          AdamOptions(0),
          AdamOptions(0.01)};
}

std::unique_ptr<Optimiser> Make(const OptimiserOptions& options, std::size_t size) {
  auto optimiser = MakeOptimiser(options, size);
  EXPECT_TRUE(optimiser.ok()) << optimiser.status();
  return std::move(optimiser).value();
}

std::vector<float> RandomFloats(Rng& rng, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(Normal(rng));
  return values;
}

double RateOf(int step) { return 0.05 / (1 + 0.02 * step); }

// The textbook, in doubles, an element at a time, with the first step as its own case and std::pow.
struct Reference {
  OptimiserOptions options;
  int step = 0;
  double first = 0;
  double second = 0;

  double Next(double parameter, double gradient, double rate) {
    ++step;
    gradient += options.weight_decay * parameter;
    if (options.name == "adam") {
      first = options.beta1 * first + (1 - options.beta1) * gradient;
      second = options.beta2 * second + (1 - options.beta2) * gradient * gradient;
      const double mean = first / (1 - std::pow(options.beta1, step));
      const double square = second / (1 - std::pow(options.beta2, step));
      return parameter - rate * mean / (std::sqrt(square) + options.epsilon);
    }
    if (options.momentum == 0) return parameter - rate * gradient;
    first = step == 1 ? gradient : options.momentum * first + gradient;
    return parameter - rate * (options.nesterov ? gradient + options.momentum * first : first);
  }
};

TEST(Optimiser, FollowsADoublePrecisionReferenceForManySteps) {
  constexpr std::size_t kSize = 67;  // Not a multiple of any vector's width.
  constexpr int kSteps = 300;
  for (const OptimiserOptions& options : EveryKind()) {
    Rng rng(11);
    const auto optimiser = Make(options, kSize);
    std::vector<float> parameters = RandomFloats(rng, kSize);
    std::vector<double> expected(parameters.begin(), parameters.end());
    std::vector<Reference> references(kSize, Reference{options});
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<float> gradients = RandomFloats(rng, kSize);
      optimiser->Step(parameters, gradients, RateOf(step));
      for (std::size_t i = 0; i < kSize; ++i) {
        expected[i] = references[i].Next(expected[i], gradients[i], RateOf(step));
      }
    }
    // Three hundred roundings of a float near one, at 6e-8 each, stay below 2e-5 even if all fall to one
    // side; momentum carries its own, ten times as long.
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSERT_NEAR(parameters[i], expected[i], 1e-4 * std::max(1.0, std::abs(expected[i])))
          << options.name << " momentum " << options.momentum << " decay " << options.weight_decay;
    }
  }
}

// All numbers are short in binary, so nothing rounds.
TEST(Sgd, FirstStepsByHand) {
  const float gradient = 1;
  float parameter = 2;
  const auto plain = Make(SgdOptions(0.5, false, 0.25), 1);
  plain->Step({&parameter, 1}, {&gradient, 1}, 0.5);  // direction 1.5, momentum 1.5
  EXPECT_EQ(parameter, 1.25F);
  plain->Step({&parameter, 1}, {&gradient, 1}, 0.5);  // direction 1.3125, momentum 2.0625
  EXPECT_EQ(parameter, 0.21875F);

  parameter = 2;
  const auto nesterov = Make(SgdOptions(0.5, true, 0.25), 1);
  nesterov->Step({&parameter, 1}, {&gradient, 1}, 0.5);  // 1.5 + 0.5 · 1.5 = 2.25
  EXPECT_EQ(parameter, 0.875F);
}

TEST(Adam, FirstStepHasTheLengthOfTheLearningRate) {
  for (const float gradient : {1e-3F, -4.0F, 1e4F}) {
    float parameter = 1;
    const auto adam = Make(AdamOptions(0), 1);
    adam->Step({&parameter, 1}, {&gradient, 1}, 0.125);
    EXPECT_NEAR(parameter, gradient > 0 ? 0.875 : 1.125, 3e-6);
    EXPECT_FLOAT_EQ(adam->State()[0].values[0], 0.1F * gradient);
    EXPECT_FLOAT_EQ(adam->State()[1].values[0], 0.001F * gradient * gradient);
  }
}

TEST(Adam, AParameterThatNeverMovedStays) {
  const float gradient = 0;
  float parameter = 3;
  const auto adam = Make(AdamOptions(0), 1);
  adam->Step({&parameter, 1}, {&gradient, 1}, 0.1);
  EXPECT_EQ(parameter, 3.0F);
}

TEST(Optimiser, RangesInAnyOrderGiveTheSameBitsAsTheWhole) {
  constexpr std::size_t kSize = 1000;
  struct Range {
    std::size_t offset, count;
  };
  const std::vector<Range> ranges = {{613, 387}, {0, 1}, {64, 549}, {613, 0}, {1, 63}};
  for (const OptimiserOptions& options : EveryKind()) {
    Rng rng(5);
    const auto whole = Make(options, kSize);
    const auto pieces = Make(options, kSize);
    std::vector<float> a = RandomFloats(rng, kSize);
    std::vector<float> b = a;
    for (int step = 0; step < 20; ++step) {
      const std::vector<float> gradients = RandomFloats(rng, kSize);
      whole->Step(a, gradients, RateOf(step));
      pieces->BeginStep(RateOf(step));
      std::vector<std::jthread> threads;
      for (const Range range : ranges) {
        threads.emplace_back([&, range] {
          pieces->StepRange(range.offset, std::span(b).subspan(range.offset, range.count),
                            std::span(gradients).subspan(range.offset, range.count));
        });
      }
    }
    EXPECT_EQ(std::memcmp(a.data(), b.data(), kSize * sizeof(float)), 0) << options.name;
  }
}

TEST(Optimiser, WhatIsLeftOutOfAStepKeepsParametersAndState) {
  for (const OptimiserOptions& options : EveryKind()) {
    const auto optimiser = Make(options, 4);
    std::vector<float> parameters = {1, 2, 3, 4};
    const std::vector<float> gradients = {1, 1, 1, 1};
    optimiser->BeginStep(0.1);
    optimiser->StepRange(2, std::span(parameters).subspan(2), std::span(gradients).subspan(2));
    EXPECT_EQ(parameters[0], 1);
    EXPECT_EQ(parameters[1], 2);
    EXPECT_LT(parameters[2], 3);
    for (const auto& array : optimiser->State()) {
      EXPECT_EQ(array.values[1], 0) << array.name;
      EXPECT_NE(array.values[2], 0) << array.name;
    }
  }
}

TEST(Optimiser, GoesOnWithTheSameBitsFromSavedState) {
  constexpr std::size_t kSize = 33;
  for (const OptimiserOptions& options : EveryKind()) {
    Rng rng(8);
    auto optimiser = Make(options, kSize);
    std::vector<float> a = RandomFloats(rng, kSize);
    std::vector<float> b;
    std::unique_ptr<Optimiser> resumed;
    for (int step = 0; step < 20; ++step) {
      if (step == 10) {
        b = a;
        resumed = Make(options, kSize);
        resumed->set_steps(optimiser->steps());
        const auto from = optimiser->State();
        const auto to = resumed->State();
        ASSERT_EQ(from.size(), to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
          EXPECT_EQ(from[i].name, to[i].name);
          std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
        }
      }
      const std::vector<float> gradients = RandomFloats(rng, kSize);
      optimiser->Step(a, gradients, RateOf(step));
      if (resumed) resumed->Step(b, gradients, RateOf(step));
    }
    EXPECT_EQ(resumed->steps(), 20U);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), kSize * sizeof(float)), 0) << options.name;
  }
}

TEST(Optimiser, HoldsNoStateThatItDoesNotNeed) {
  EXPECT_TRUE(Make(SgdOptions(0, false, 0.1), 10)->State().empty());
  EXPECT_EQ(Make(SgdOptions(0.9, false, 0), 10)->State().size(), 1U);
  EXPECT_EQ(Make(AdamOptions(0), 10)->State().size(), 2U);
}

TEST(OptimiserDeathTest, MisuseIsABug) {
  const auto optimiser = Make(SgdOptions(0.9, false, 0), 4);
  std::vector<float> parameters(4);
  const std::vector<float> gradients(4);
  EXPECT_DEATH(optimiser->StepRange(0, parameters, gradients), "prepared_");
  EXPECT_DEATH(optimiser->BeginStep(std::nan("")), "learning_rate");
  EXPECT_DEATH(optimiser->Step(std::span(parameters).first(3), gradients, 0.1), "size_");
  optimiser->BeginStep(0.1);
  EXPECT_DEATH(optimiser->StepRange(1, parameters, gradients), "offset");
}

TEST(MakeOptimiser, RefusesWhatMakesNoSense) {
  const auto message = [](auto change) {
    OptimiserOptions options;
    change(options);
    const auto made = MakeOptimiser(options, 1);
    return made.ok() ? "accepted" : made.status().message();
  };
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();

  EXPECT_EQ(message([](auto& o) { o.name = "adm"; }),
            "unknown optimiser 'adm'; did you mean 'adam'? Known: sgd, adam");
  EXPECT_EQ(message([](auto& o) { o.momentum = 1; }), "momentum must be at least 0 and less than 1, found 1");
  EXPECT_EQ(message([](auto& o) { o.nesterov = true; }),
            "nesterov needs momentum, which is 0; set momentum, e.g. to 0.9");
  for (const double bad : {-0.1, nan, infinity}) {
    EXPECT_NE(message([&](auto& o) { o.momentum = bad; }), "accepted") << bad;
    EXPECT_NE(message([&](auto& o) { o.weight_decay = bad; }), "accepted") << bad;
    EXPECT_NE(message([&](auto& o) { o.name = "adam", o.beta1 = bad; }), "accepted") << bad;
    EXPECT_NE(message([&](auto& o) { o.name = "adam", o.beta2 = bad; }), "accepted") << bad;
    EXPECT_NE(message([&](auto& o) { o.name = "adam", o.epsilon = bad; }), "accepted") << bad;
  }
  EXPECT_NE(message([](auto& o) { o.name = "adam", o.epsilon = 0; }), "accepted");
  EXPECT_NE(message([](auto& o) { o.name = "adam", o.beta2 = 1; }), "accepted");
  EXPECT_NE(message([](auto& o) { o.name = "adam", o.momentum = 0.9; }).find("are only valid with sgd"),
            std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
