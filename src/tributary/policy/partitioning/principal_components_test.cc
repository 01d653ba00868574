#include "tributary/policy/partitioning/principal_components.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/base/symmetric_eigen.h"

namespace tributary::inline policy {
namespace {

struct Rows {
  std::vector<float> values;
  std::size_t samples = 0, dimensions = 0;

  SampleReader reader() const {
    return {samples, dimensions, [this](std::size_t sample, std::span<float> row) {
              for (std::size_t i = 0; i < dimensions; ++i) row[i] = values[sample * dimensions + i];
            }};
  }
};

// Variation that falls off geometrically along mixed directions, around a mean that is not zero.
Rows MakeRows(std::size_t samples, std::size_t dimensions, double decay) {
  Rng rng(7);
  std::vector<double> mix(dimensions * dimensions);
  for (double& entry : mix) entry = Normal(rng);
  Rows rows{{}, samples, dimensions};
  std::vector<double> inner(dimensions);
  for (std::size_t s = 0; s < samples; ++s) {
    for (std::size_t i = 0; i < dimensions; ++i)
      inner[i] = std::pow(decay, static_cast<double>(i)) * Normal(rng);
    for (std::size_t i = 0; i < dimensions; ++i) {
      double value = 3;
      for (std::size_t k = 0; k < dimensions; ++k) value += mix[i * dimensions + k] * inner[k];
      rows.values.push_back(static_cast<float>(value));
    }
  }
  return rows;
}

// By way of the whole covariance.
SymmetricEigen DirectComponents(const Rows& rows, std::vector<double>& mean) {
  const std::size_t size = rows.dimensions;
  const auto samples = static_cast<double>(rows.samples);
  mean.assign(size, 0);
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    mean[i % size] += static_cast<double>(rows.values[i]) / samples;
  std::vector<double> covariance(size * size, 0);
  for (std::size_t s = 0; s < rows.samples; ++s) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < size; ++k) {
        covariance[i * size + k] += (static_cast<double>(rows.values[s * size + i]) - mean[i]) *
                                    (static_cast<double>(rows.values[s * size + k]) - mean[k]) / samples;
      }
    }
  }
  return SolveSymmetricEigen(covariance, size);
}

TEST(FindPrincipalComponents, AreThoseOfTheCovariance) {
  for (const std::size_t dimensions : {6U, 60U}) {
    const Rows rows = MakeRows(333, dimensions, 0.8);
    std::vector<double> mean;
    const SymmetricEigen direct = DirectComponents(rows, mean);
    const PrincipalComponents found = FindPrincipalComponents(rows.reader(), 5, 3);
    EXPECT_NEAR(found.total_variance, std::accumulate(direct.values.begin(), direct.values.end(), 0.0),
                1e-5 * found.total_variance);
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(found.variances[k], direct.values[k], 1e-4 * direct.values[k]);
      double largest = 0;
      for (std::size_t i = 0; i < dimensions; ++i) {
        const double entry = direct.vectors[i * dimensions + k];
        if (std::abs(entry) > std::abs(largest)) largest = entry;
      }
      for (std::size_t s = 0; s < rows.samples; ++s) {
        double place = 0;
        for (std::size_t i = 0; i < dimensions; ++i) {
          place += (static_cast<double>(rows.values[s * dimensions + i]) - mean[i]) *
                   direct.vectors[i * dimensions + k];
        }
        EXPECT_NEAR(static_cast<double>(found.projected[s * 5 + k]), largest > 0 ? place : -place,
                    2e-3 * std::sqrt(direct.values[k]));
      }
    }
  }
}

TEST(FindPrincipalComponents, KeepNearlyAllThatCanBeKeptWhereDirectionsAreAlike) {
  const Rows rows = MakeRows(400, 80, 0.98);
  std::vector<double> mean;
  const SymmetricEigen direct = DirectComponents(rows, mean);
  const PrincipalComponents found = FindPrincipalComponents(rows.reader(), 20, 3);
  const double most = std::accumulate(direct.values.begin(), direct.values.begin() + 20, 0.0);
  const double kept = std::accumulate(found.variances.begin(), found.variances.end(), 0.0);
  EXPECT_LE(kept, most * (1 + 1e-5));
  EXPECT_GT(kept, 0.995 * most);
}

TEST(FindPrincipalComponents, DoNotDependOnTheOrderOfParts) {
  const Rows rows = MakeRows(123, 30, 0.9);
  const ParallelFor backwards = [](std::size_t parts, const std::function<void(std::size_t)>& body) {
    for (std::size_t part = parts; part-- > 0;) body(part);
  };
  EXPECT_EQ(FindPrincipalComponents(rows.reader(), 4, 1).projected,
            FindPrincipalComponents(rows.reader(), 4, 1, backwards).projected);
}

TEST(FindPrincipalComponents, AreZeroWhereNothingVaries) {
  const Rows rows{std::vector<float>(20 * 30, 2.0F), 20, 30};
  const PrincipalComponents found = FindPrincipalComponents(rows.reader(), 3, 1);
  EXPECT_EQ(found.total_variance, 0);
  for (const float value : found.projected) EXPECT_EQ(value, 0.0F);
  const Rows one{{1, 2, 3}, 1, 3};
  EXPECT_EQ(FindPrincipalComponents(one.reader(), 2, 1).projected, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace tributary::inline policy
