#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline policy {
namespace {

const std::vector<std::string>& EveryName() {
  static const std::vector<std::string> names = {"none", "momentum", "adam", "yogi"};
  return names;
}

std::unique_ptr<Optimiser> Make(const std::string& name, std::size_t size) {
  ServerOptimiserOptions options;
  options.name = name;
  auto made = MakeServerOptimiser(options, size);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

// The paper's algorithms in its own terms: `change` is the devices' mean new − old, added.
struct Reference {
  std::string name;
  double m = 0;
  double v = 1e-6;

  double Next(double x, double change, double rate) {
    if (name == "none") return x + rate * change;
    if (name == "momentum") {
      m = 0.9 * m + change;
      return x + rate * m;
    }
    const double square = change * change;
    m = 0.9 * m + 0.1 * change;
    if (name == "adam") {
      v = 0.99 * v + 0.01 * square;
    } else if (v > square) {
      v = v - 0.01 * square;
    } else if (v < square) {
      v = v + 0.01 * square;
    }
    return x + rate * m / (std::sqrt(v) + 1e-3);
  }
};

TEST(ServerOptimiser, FollowsThePaperInDoublesForManyRounds) {
  constexpr std::size_t kSize = 67;
  for (const std::string& name : EveryName()) {
    Rng rng(21);
    const double rate = name == "adam" || name == "yogi" ? 0.01 : 1.0;
    const auto optimiser = Make(name, kSize);
    std::vector<float> parameters(kSize);
    for (float& parameter : parameters) parameter = static_cast<float>(Normal(rng));
    std::vector<double> expected(parameters.begin(), parameters.end());
    std::vector<Reference> references(kSize, Reference{name});
    for (int round = 0; round < 200; ++round) {
      std::vector<float> gradients(kSize);
      const double size =
          round % 50 < 10 ? 0.1 : 0.001;  // Loud and quiet stretches: Yogi's square falls, too.
      for (std::size_t i = 0; i < kSize; ++i) {
        gradients[i] = static_cast<float>(Normal(rng, 0, size));
        expected[i] = references[i].Next(expected[i], -static_cast<double>(gradients[i]), rate);
      }
      optimiser->Step(parameters, gradients, rate);
    }
    // Two hundred roundings of a float near one, at 6e-8 each; those of the state come on top.
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSERT_NEAR(parameters[i], expected[i], 5e-5 * std::max(1.0, std::abs(expected[i]))) << name;
    }
  }
}

TEST(ServerOptimiser, NoneTakesTheMeanOfTheModels) {
  std::vector<float> parameters = {1, -2, 0.5F};
  const std::vector<float> gradients = {0.25F, -0.5F, 0};
  Make("none", 3)->Step(parameters, gradients, 1);
  EXPECT_EQ(parameters, (std::vector<float>{0.75F, -1.5F, 0.5F}));
}

TEST(ServerOptimiser, YogisSquareFallsSlowerThanAdams) {
  const auto adam = Make("adam", 1);
  const auto yogi = Make("yogi", 1);
  float parameter = 0;
  for (int round = 0; round < 300; ++round) {
    const float gradient = round < 100 ? 0.5F : 0.01F;
    adam->Step({&parameter, 1}, {&gradient, 1}, 0.01);
    yogi->Step({&parameter, 1}, {&gradient, 1}, 0.01);
  }
  EXPECT_GT(yogi->State()[1].values[0], 3 * adam->State()[1].values[0]);
}

TEST(ServerOptimiser, ASquareThatEqualsTheNewsStays) {
  ServerOptimiserOptions options;
  options.name = "yogi";
  options.tau = 0.5;
  const auto yogi = MakeServerOptimiser(options, 1);
  ASSERT_TRUE(yogi.ok());
  float parameter = 0;
  const float gradient = 0.5F;
  (*yogi)->Step({&parameter, 1}, {&gradient, 1}, 1);
  EXPECT_EQ((*yogi)->State()[1].values[0], 0.25F);
}

TEST(ServerOptimiser, GoesOnWithTheSameBitsFromSavedState) {
  constexpr std::size_t kSize = 33;
  for (const std::string& name : EveryName()) {
    Rng rng(22);
    const auto optimiser = Make(name, kSize);
    const auto resumed = Make(name, kSize);
    std::vector<float> a(kSize, 1);
    std::vector<float> b;
    for (int round = 0; round < 10; ++round) {
      if (round == 5) {
        b = a;
        resumed->set_steps(optimiser->steps());
        const auto from = optimiser->State();
        const auto to = resumed->State();
        ASSERT_EQ(from.size(), to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
          EXPECT_EQ(from[i].name, to[i].name);
          std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
        }
      }
      std::vector<float> gradients(kSize);
      for (float& gradient : gradients) gradient = static_cast<float>(Normal(rng));
      optimiser->Step(a, gradients, 0.1);
      if (round >= 5) resumed->Step(b, gradients, 0.1);
    }
    EXPECT_EQ(std::memcmp(a.data(), b.data(), kSize * sizeof(float)), 0) << name;
  }
}

TEST(ServerOptimiser, RangesGiveTheSameBitsAsTheWhole) {
  for (const std::string& name : EveryName()) {
    const auto whole = Make(name, 50);
    const auto pieces = Make(name, 50);
    std::vector<float> a(50, 1);
    std::vector<float> b(50, 1);
    std::vector<float> gradients(50);
    for (std::size_t i = 0; i < 50; ++i) gradients[i] = 0.01F * static_cast<float>(i) - 0.2F;
    for (int round = 0; round < 5; ++round) {
      whole->Step(a, gradients, 0.1);
      pieces->BeginStep(0.1);
      pieces->StepRange(17, std::span(b).subspan(17), std::span(gradients).subspan(17));
      pieces->StepRange(0, std::span(b).first(17), std::span(gradients).first(17));
    }
    EXPECT_EQ(std::memcmp(a.data(), b.data(), 50 * sizeof(float)), 0) << name;
  }
}

TEST(MakeServerOptimiser, RefusesWhatMakesNoSense) {
  const auto message = [](std::string name, auto change) {
    ServerOptimiserOptions options;
    options.name = std::move(name);
    change(options);
    const auto made = MakeServerOptimiser(options, 1);
    return made.ok() ? "accepted" : made.status().message();
  };
  EXPECT_EQ(message("yogy", [](auto&) {}),
            "unknown server optimiser 'yogy'; did you mean 'yogi'? Known: none, momentum, adam, yogi");
  EXPECT_EQ(message("momentum", [](auto& o) { o.momentum = 1; }),
            "momentum must be at least 0 and less than 1, found 1");
  EXPECT_EQ(message("yogi", [](auto& o) { o.tau = 0; }),
            "tau must be more than 0 and fit a 32-bit float, e.g. 1e-3, found 0");
  for (const double bad : {-0.1, 1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(message("adam", [&](auto& o) { o.beta1 = bad; }), "accepted") << bad;
    EXPECT_NE(message("yogi", [&](auto& o) { o.beta2 = bad; }), "accepted") << bad;
  }
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(message("adam", [&](auto& o) { o.tau = bad; }), "accepted") << bad;
  }
}

}  // namespace
}  // namespace tributary::inline policy
