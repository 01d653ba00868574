#include "tributary/policy/partitioning/similarities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/policy/partitioning/testing_features.h"

namespace tributary::inline policy {
namespace {

double SquaredDistance(const Features& features, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t k = 0; k < features.dimensions; ++k) {
    const double difference =
        static_cast<double>(features.Row(a)[k]) - static_cast<double>(features.Row(b)[k]);
    sum += difference * difference;
  }
  return sum;
}

TEST(PanelSquares, AreThoseOfThePairs) {
  for (const std::size_t dimensions : {1U, 5U, 600U}) {
    const ClusteredSamples made = MakeClusters(dimensions, 37, dimensions, 2);
    const Features features = made.features();
    const Panels panels(features, AllOf(features));
    ASSERT_EQ(panels.panels(), 3U);
    float squares[kPanel * kPanel], row[kPanel];
    for (std::size_t a = 0; a < 37; ++a) {
      for (std::size_t b = 0; b < 37; ++b) {
        PanelSquares(panels.panel(a / kPanel), panels.panel(b / kPanel), dimensions, squares);
        const float found = squares[a % kPanel * kPanel + b % kPanel];
        const double exact = SquaredDistance(features, a, b);
        EXPECT_NEAR(static_cast<double>(found), exact, 1e-5 * exact);
        RowSquares(panels.panel(a / kPanel), a % kPanel, panels.panel(b / kPanel), dimensions, row);
        EXPECT_EQ(row[b % kPanel], found);
      }
    }
  }
}

TEST(ExpOfNegative, IsWithinThreeInTenMillion) {
  std::vector<float> values;
  for (double x = 0; x < 200; x += 0.0137) values.push_back(static_cast<float>(x));
  std::vector<float> results = values;
  ExpOfNegative(0.5F, results);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double exact = std::exp(-0.5 * static_cast<double>(values[i]));
    if (exact < 1e-37) {
      EXPECT_NEAR(static_cast<double>(results[i]), 0.0, 1e-37);
    } else {
      EXPECT_NEAR(static_cast<double>(results[i]) / exact, 1.0, 3e-7) << values[i];
    }
  }
  EXPECT_EQ(results[0], 1.0F);
  std::vector<float> far = {3e38F};
  ExpOfNegative(3e38F, far);
  EXPECT_EQ(far[0], 0.0F);
}

TEST(DenseSimilarities, AreGaussianSymmetricAndOneOnTheDiagonal) {
  const ClusteredSamples made = MakeClusters(3, 150, 6, 1);
  const double width = 4;
  const DenseSimilarities similarities = MakeSimilarities(made.features(), width);
  for (std::size_t a = 0; a < 150; ++a) {
    for (std::size_t b = 0; b < 150; ++b) {
      const double exact = std::exp(-SquaredDistance(made.features(), a, b) / (2 * width * width));
      EXPECT_NEAR(similarities.Row(a)[b], exact * kAlike, 0.6);
      EXPECT_EQ(similarities.Row(a)[b], similarities.Row(b)[a]);
    }
    EXPECT_EQ(similarities.Row(a)[a], kAlike);
  }
}

TEST(ComputedSimilarities, AreTheBitsOfDenseOnes) {
  const ClusteredSamples made = MakeClusters(4, 301, 19, 1);
  const Panels panels(made.features(), AllOf(made.features()));
  const DenseSimilarities dense = MakeSimilarities(made.features(), 7);
  const ComputedSimilarities computed(panels, 7);
  std::vector<Similarity> scratch(ScratchFor(301));
  for (std::size_t i = 0; i < 301; ++i) {
    EXPECT_TRUE(std::ranges::equal(computed.Row(i, scratch), dense.Row(i))) << i;
  }
  EXPECT_EQ(computed.RowSums(), dense.RowSums());
  EXPECT_EQ(dense.RowSums()[7], std::accumulate(dense.Row(7).begin(), dense.Row(7).end(), std::int64_t{0}));
}

TEST(NearestSimilarities, KeepTheMostAlikeOfEachSample) {
  constexpr std::size_t kSamples = 90, kKept = 7;
  ClusteredSamples made = MakeClusters(5, kSamples, 3, 1);
  for (std::size_t i = 0; i < 60; ++i) made.values[i] = 0.5F;  // Twenty equals: more than are kept.
  const Panels panels(made.features(), AllOf(made.features()));
  const DenseSimilarities dense = MakeSimilarities(made.features(), 4);
  const NearestSimilarities nearest(panels, 4, kKept);
  std::vector<std::vector<std::uint32_t>> kept(kSamples);
  for (std::uint32_t v = 0; v < kSamples; ++v) {
    for (const auto& near : nearest.NearTo(v)) {
      EXPECT_EQ(near.similarity, dense.Row(v)[near.sample]);
      kept[near.sample].push_back(v);
    }
  }
  for (std::uint32_t u = 0; u < kSamples; ++u) {
    std::vector<std::uint32_t> order = AllOf(made.features());
    std::ranges::stable_sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return dense.Row(u)[a] > dense.Row(u)[b]; });
    std::erase(order, u);
    order.insert(order.begin(), u);
    order.resize(kKept);
    std::ranges::sort(order);
    EXPECT_EQ(kept[u], order);
  }
}

TEST(MedianDistance, IsThatOfAllPairs) {
  for (const std::size_t samples : {2U, 5U, 40U, 41U}) {
    const ClusteredSamples made = MakeClusters(samples, samples, 4, 1);
    std::vector<double> distances;
    for (std::size_t a = 0; a < samples; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        distances.push_back(std::sqrt(SquaredDistance(made.features(), a, b)));
    }
    std::ranges::sort(distances);
    const std::size_t half = distances.size() / 2;
    const double exact =
        distances.size() % 2 == 1 ? distances[half] : (distances[half] + distances[half - 1]) / 2;
    EXPECT_NEAR(MedianDistance(made.features(), AllOf(made.features()), 100, Rng(1)), exact, 1e-5 * exact);
  }
}

TEST(MedianDistance, IsNeverZero) {
  const std::vector<float> mostly = {1, 1, 1, 1, 1, 4};  // Ten pairs of equals and five at a distance of 3.
  EXPECT_DOUBLE_EQ(MedianDistance({mostly, 1}, AllOf({mostly, 1}), 100, Rng(1)), 3);
  const std::vector<float> equal = {2, 2, 2};
  EXPECT_DOUBLE_EQ(MedianDistance({equal, 1}, AllOf({equal, 1}), 100, Rng(1)), 1);
  EXPECT_DOUBLE_EQ(MedianDistance({equal, 1}, std::vector<std::uint32_t>{0}, 100, Rng(1)), 1);
}

TEST(MedianDistance, OfSomeIsNearThatOfAll) {
  const ClusteredSamples made = MakeClusters(8, 3000, 8, 1);
  const double all = MedianDistance(made.features(), AllOf(made.features()), 3000, Rng(1));
  const double some = MedianDistance(made.features(), AllOf(made.features()), 600, Rng(1));
  EXPECT_NE(some, all);
  EXPECT_NEAR(some / all, 1, 0.03);
}

}  // namespace
}  // namespace tributary::inline policy
