#include "tributary/base/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "tributary/base/portable_math.h"

namespace tributary::inline base {
namespace {

// Mean and variance of n draws lie within five standard errors of the law's; the fourth moment of every law here is
// small enough that 5·variance·√(k/n) with k = 12 bounds the error of the variance.
void ExpectMoments(const std::function<double()>& draw, double mean, double variance, int n = 40'000) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = draw();
    sum += x;
    squares += (x - mean) * (x - mean);
  }
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt(12.0 / n));
}

TEST(PortableMath, AgreesWithTheLibrary) {
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    const double x = Uniform(rng, -700, 700);
    const double e = std::exp(x);
    EXPECT_NEAR(PortableExp(x) / e, 1, 4e-15);
    const double y = e * rng.Uniform() + 1e-300;
    EXPECT_NEAR(PortableLog(y), std::log(y), 1e-15 * std::max(1.0, std::abs(std::log(y))));
  }
  EXPECT_EQ(PortableLog(1), 0);
  EXPECT_EQ(PortableExp(0), 1);
  EXPECT_TRUE(std::isinf(PortableLog(0)));
  EXPECT_EQ(PortableExp(-1000), 0);
}

TEST(Distributions, NormalHasItsMomentsAndTails) {
  Rng rng(4);
  ExpectMoments([&] { return Normal(rng, 3, 2); }, 3, 4);
  int beyond = 0;
  for (int i = 0; i < 100'000; ++i) beyond += std::abs(Normal(rng)) > 2 ? 1 : 0;
  EXPECT_NEAR(beyond / 1e5, 0.0455, 5 * std::sqrt(0.0455 * 0.9545 / 1e5));
}

TEST(Distributions, GammaHasItsMoments) {
  Rng rng(5);
  for (const double shape : {0.3, 1.0, 2.5, 40.0}) {
    const int n = 40'000;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += Gamma(rng, shape);
    EXPECT_NEAR(sum / n, shape, 5 * std::sqrt(shape / n)) << shape;
  }
  ExpectMoments([&] { return Gamma(rng, 2.5); }, 2.5, 2.5);
}

TEST(Distributions, BinomialEqualsItsExactLaw) {
  // Against the closed form, on both sides of the switch to splitting.
  Rng rng(6);
  for (const auto& [trials, p] : {std::pair{10, 0.3}, std::pair{60, 0.05}, std::pair{60, 0.7}}) {
    constexpr int kDraws = 50'000;
    std::map<std::int64_t, int> seen;
    for (int i = 0; i < kDraws; ++i) ++seen[Binomial(rng, trials, p)];
    double probability = std::pow(1 - p, trials);
    double chi_square = 0;
    int cells = 0;
    for (int k = 0; k <= trials; ++k) {
      const double expected = probability * kDraws;
      if (expected >= 10) {
        chi_square += (seen[k] - expected) * (seen[k] - expected) / expected;
        ++cells;
      }
      probability *= static_cast<double>(trials - k) / (k + 1) * p / (1 - p);
    }
    EXPECT_LT(chi_square, cells + 4.5 * std::sqrt(2.0 * cells)) << trials << " " << p;
  }
}

TEST(Distributions, BinomialOfManyTrials) {
  Rng rng(7);
  ExpectMoments([&] { return static_cast<double>(Binomial(rng, 1'000'000, 0.2)); }, 200'000, 160'000, 5'000);
  EXPECT_EQ(Binomial(rng, 1000, 0), 0);
  EXPECT_EQ(Binomial(rng, 1000, 1), 1000);
}

TEST(Distributions, DirichletHasItsMomentsAndSurvivesTinyConcentrations) {
  Rng rng(8);
  const std::vector<double> alpha = {0.5, 1.5, 3.0};  // sum 5: mean α/5, variance m(1−m)/6
  ExpectMoments([&] { return Dirichlet(rng, alpha)[2]; }, 0.6, 0.6 * 0.4 / 6);
  const std::vector<double> tiny(10, 1e-3);
  for (int i = 0; i < 1000; ++i) {
    const auto point = Dirichlet(rng, tiny);
    EXPECT_NEAR(std::accumulate(point.begin(), point.end(), 0.0), 1, 1e-12);
  }
}

TEST(Distributions, MultinomialPlacesEveryTrial) {
  Rng rng(9);
  const std::vector<double> weights = {2, 0, 1, 5};
  ExpectMoments([&] { return static_cast<double>(Multinomial(rng, 100, weights)[3]); }, 62.5,
                100 * 0.625 * 0.375, 20'000);
  for (int i = 0; i < 100; ++i) {
    const auto counts = Multinomial(rng, 1000, weights);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 1000);
    EXPECT_EQ(counts[1], 0);
  }
}

TEST(Distributions, MultivariateHypergeometricEqualsItsExactLaw) {
  // Urn {3, 2, 4}, four drawn: every outcome has probability Π C(n_i, x_i) / C(9, 4).
  const std::vector<std::int64_t> urn = {3, 2, 4};
  const auto choose = [](std::int64_t n, std::int64_t k) {
    double c = 1;
    for (std::int64_t i = 0; i < k; ++i) c = c * static_cast<double>(n - i) / static_cast<double>(i + 1);
    return c;
  };
  for (const std::int64_t draws : {4, 6}) {  // below and above half: both ways round
    Rng rng(10);
    std::map<std::vector<std::int64_t>, int> seen;
    constexpr int kDraws = 60'000;
    for (int i = 0; i < kDraws; ++i) ++seen[MultivariateHypergeometric(rng, urn, draws)];
    double chi_square = 0;
    int cells = 0;
    for (std::int64_t a = 0; a <= 3; ++a) {
      for (std::int64_t b = 0; b <= 2; ++b) {
        const std::int64_t c = draws - a - b;
        if (c < 0 || c > 4) continue;
        const double expected = kDraws * choose(3, a) * choose(2, b) * choose(4, c) / choose(9, draws);
        const int count = seen[{a, b, c}];
        chi_square += (count - expected) * (count - expected) / expected;
        ++cells;
      }
    }
    EXPECT_EQ(static_cast<int>(seen.size()), cells);
    EXPECT_LT(chi_square, cells + 4.5 * std::sqrt(2.0 * cells));
  }
}

TEST(Distributions, ShuffleReachesEveryOrderEquallyOften) {
  Rng rng(11);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24'000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    Shuffle(rng, std::span(items));
    ++seen[items];
  }
  ASSERT_EQ(seen.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : seen) chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi_square, 49.7);  // 23 degrees of freedom, p = 0.001
}

}  // namespace
}  // namespace tributary::inline base
