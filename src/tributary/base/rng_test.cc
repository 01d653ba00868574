#include "tributary/base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace tributary::inline base {
namespace {

TEST(Rng, GivesTheSameNumbersEverywhere) {
  // Written down once: a change here changes every published run.
  Rng rng(7);
  EXPECT_EQ(rng.Next(), 1021219803524665661U);
  EXPECT_EQ(rng.Next(), 3174977118032272916U);
  Rng stream = Rng::ForStream(7, DeviceId{3}, "shuffle", 11);
  EXPECT_EQ(stream.Next(), 318607372787724885U);
}

TEST(Rng, StreamsDifferInEveryPartOfTheirKey) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed : {1U, 2U}) {
    for (std::uint64_t device : {0U, 1U, 2U}) {
      for (const char* purpose : {"shuffle", "augment"}) {
        for (std::uint64_t step : {0U, 1U, 2U}) {
          firsts.insert(Rng::ForStream(seed, DeviceId{device}, purpose, step).Next());
        }
      }
    }
  }
  EXPECT_EQ(firsts.size(), 2U * 3 * 2 * 3);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  std::array<int, 7> seen{};
  constexpr int kDraws = 70'000;
  for (int i = 0; i < kDraws; ++i) ++seen[rng.Below(seen.size())];
  double chi_square = 0;
  for (const int count : seen) chi_square += (count - kDraws / 7.0) * (count - kDraws / 7.0) / (kDraws / 7.0);
  EXPECT_LT(chi_square, 22.5);  // 6 degrees of freedom, p = 0.001
}

TEST(Rng, UniformStaysBelowOne) {
  Rng rng(2);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = rng.Uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 4 * 0.2887 / 316.2);  // four standard errors
}

}  // namespace
}  // namespace tributary::inline base
