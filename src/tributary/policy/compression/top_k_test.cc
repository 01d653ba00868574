#include "tributary/policy/compression/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/base/worker_pool.h"

namespace tributary::inline policy {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// By sorting everything, comparing floats as floats.
std::vector<std::uint32_t> LargestFirst(std::span<const float> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::abs(values[a]) > std::abs(values[b]);
  });
  return order;
}

void ExpectTopK(TopKSelector& selector, std::span<const float> values,
                std::initializer_list<std::size_t> ks) {
  const std::vector<std::uint32_t> order = LargestFirst(values);
  for (const std::size_t k : ks) {
    std::vector<std::uint32_t> expected(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k));
    std::sort(expected.begin(), expected.end());
    Selection selection;
    ASSERT_TRUE(selector.Select(values, k, selection).ok());
    ASSERT_EQ(selection.indices, expected) << values.size() << " values, k " << k;
    std::vector<float> kept;
    for (const std::uint32_t index : expected) kept.push_back(values[index]);
    ASSERT_EQ(selection.values.size(), k);
    ASSERT_TRUE(k == 0 || std::memcmp(selection.values.data(), kept.data(), 4 * k) == 0);
  }
}

// One of several shapes of vectors: smooth, few distinct values, nearly all zero, tiny, all equal, extreme.
std::vector<float> AnyVector(Rng& rng, std::size_t count) {
  std::vector<float> values(count);
  const std::uint64_t shape = rng.Below(8);
  const auto scale = static_cast<float>(std::exp(3 * Normal(rng)));
  for (float& value : values) {
    switch (shape) {
      case 0:
        value = scale * static_cast<float>(Normal(rng));
        break;
      case 1:
        value = static_cast<float>(static_cast<int>(rng.Below(7)) - 3);
        break;
      case 2:
        value = rng.Below(20) == 0 ? static_cast<float>(Normal(rng)) : (rng.Below(2) == 0 ? 0.0F : -0.0F);
        break;
      case 3:
        value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.Below(1U << 23) | (rng.Below(2) << 31)));
        break;
      case 4:
        value = rng.Below(2) == 0 ? scale : -scale;
        break;
      case 5: {  // Any bits but NaN.
        do value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.Next()));
        while (std::isnan(value));
        break;
      }
      case 6:
        value = rng.Below(3) == 0 ? (rng.Below(2) == 0 ? kInfinity : -kInfinity) : scale;
        break;
      default:  // The same but for the lowest bits.
        value = std::bit_cast<float>(0x3f800000U + static_cast<std::uint32_t>(rng.Below(50)));
    }
  }
  return values;
}

TEST(TopKSelector, AgreesWithSortingEverything) {
  Rng rng(1);
  TopKSelector selector;
  for (int i = 0; i < 4000; ++i) {
    const std::vector<float> values = AnyVector(rng, rng.Below(300));
    ExpectTopK(selector, values, {rng.Below(values.size() + 1)});
  }
}

TEST(TopKSelector, AgreesWithSortingLongVectors) {
  Rng rng(2);
  TopKSelector selector;
  for (int i = 0; i < 40; ++i) {
    const std::vector<float> values = AnyVector(rng, 32'000 + rng.Below(40'000));
    const std::size_t n = values.size();
    ExpectTopK(selector, values, {n / 1000, n / 100, n / 10, n / 4, n / 2});
  }
}

TEST(TopKSelector, HandlesTheEnds) {
  Rng rng(3);
  TopKSelector selector;
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 2, 63, 64, 65, 1000, 40'000}) {
    const std::vector<float> values = AnyVector(rng, n);
    ExpectTopK(selector, values, {0, n});
    if (n > 0) ExpectTopK(selector, values, {1, n - 1});
  }
}

// All that is large lies together or where one could expect it least: the sample foretells nonsense.
TEST(TopKSelector, IsExactWhereASampleMisleads) {
  Rng rng(4);
  TopKSelector selector;
  const std::size_t n = 50'003;
  for (int i = 0; i < 20; ++i) {
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(rng.Uniform());
    const std::size_t cluster = 16 + rng.Below(3000);
    const std::size_t begin = i == 0 ? n - cluster : rng.Below(n - cluster);
    for (std::size_t j = begin; j < begin + cluster; ++j) values[j] *= 100;
    ExpectTopK(selector, values, {cluster / 2, cluster - 1, cluster, cluster + 1, 3 * cluster});
    std::vector<float> zeros(n);
    for (std::size_t j = begin; j < begin + cluster; ++j) zeros[j] = -1;
    ExpectTopK(selector, zeros, {cluster + 5});
  }
}

// Whole lines of ones, fewer than k in all: now and then a sample meets so many of them that it takes them for common.
TEST(TopKSelector, IsExactWhereASampleExpectsTooMuch) {
  Rng rng(9);
  TopKSelector selector;
  const std::size_t n = 100'000, k = 1000, line = 16;
  for (int i = 0; i < 200; ++i) {
    std::vector<float> values(n, 0.5F);
    for (int j = 0; j < 60; ++j) std::fill_n(values.data() + line * rng.Below(n / line), line, 1.0F);
    std::vector<std::uint32_t> expected;
    auto missing = static_cast<std::ptrdiff_t>(k) - std::count(values.begin(), values.end(), 1.0F);
    for (std::uint32_t index = 0; index < n; ++index) {
      if (values[index] == 1.0F || missing-- > 0) expected.push_back(index);
    }
    Selection selection;
    ASSERT_TRUE(selector.Select(values, k, selection).ok());
    ASSERT_EQ(selection.indices, expected);
  }
}

TEST(TopKSelector, DoesNotDependOnTheDivisionIntoParts) {
  Rng rng(5);
  const ParallelFor backwards = [](std::size_t parts, const std::function<void(std::size_t)>& body) {
    while (parts > 0) body(--parts);
  };
  WorkerPool pool(3);
  const ParallelFor threads = [&pool](std::size_t parts, const std::function<void(std::size_t)>& body) {
    ASSERT_TRUE(pool.Run(parts,
                         [&body](std::size_t, std::size_t part) {
                           body(part);
                           return OkStatus();
                         })
                    .ok());
  };
  TopKSelector whole;
  std::vector<TopKSelector> others;
  for (const std::size_t part : {640, 4096, 50'000}) {
    others.emplace_back(backwards, part);
    others.emplace_back(threads, part);
  }
  for (int i = 0; i < 16; ++i) {
    const std::vector<float> values = AnyVector(rng, 30'000 + rng.Below(30'000));
    for (const std::size_t k : {values.size() / 100, values.size() / 10, values.size() / 2}) {
      Selection expected, found;
      ASSERT_TRUE(whole.Select(values, k, expected).ok());
      for (TopKSelector& selector : others) {
        ASSERT_TRUE(selector.Select(values, k, found).ok());
        ASSERT_EQ(found.indices, expected.indices);
        ASSERT_EQ(std::memcmp(found.values.data(), expected.values.data(), 4 * k), 0);
      }
    }
  }
}

TEST(TopKSelector, RefusesWhatIsNotANumber) {
  Rng rng(6);
  TopKSelector selector;
  for (const std::size_t n : {1, 100, 50'000}) {
    std::vector<float> values(n, kInfinity);
    const std::size_t place = rng.Below(n);
    values[place] = std::bit_cast<float>(0xff800001U);  // A NaN with a sign, as near to infinity as can be.
    Selection selection;
    for (const std::size_t k : {std::size_t{1}, (n + 1) / 2, n}) {
      const Status status = selector.Select(values, k, selection);
      EXPECT_EQ(status.code(), StatusCode::kCorrupt);
      EXPECT_NE(status.message().find("element " + std::to_string(place) + " "), std::string::npos) << status;
    }
    EXPECT_TRUE(selector.Select(values, 0, selection).ok());
  }
}

TEST(FindThreshold, AgreesWithNthElement) {
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<float> values = AnyVector(rng, 1 + rng.Below(400));
    const std::size_t k = 1 + rng.Below(values.size());
    const std::size_t cut = rng.Below(values.size() + 1);
    const std::span<const float> parts[] = {std::span(values).first(cut), std::span(values).subspan(cut)};
    const Threshold found = FindThreshold(parts, k);
    std::vector<float> magnitudes;
    for (const float value : values) magnitudes.push_back(std::abs(value));
    std::nth_element(magnitudes.begin(), magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1),
                     magnitudes.end(), std::greater<>());
    const float expected = magnitudes[k - 1];
    ASSERT_EQ(std::bit_cast<float>(found.key), expected);
    const auto above =
        std::count_if(magnitudes.begin(), magnitudes.end(), [&](float m) { return m > expected; });
    ASSERT_EQ(found.ties, k - static_cast<std::size_t>(above));
  }
}

TEST(SumOfSquares, IsRightAndTheSameForAnyDivision) {
  Rng rng(8);
  std::vector<float> values((std::size_t{2} << 20) + 77);
  for (float& value : values) value = static_cast<float>(Normal(rng));
  const ParallelFor backwards = [](std::size_t parts, const std::function<void(std::size_t)>& body) {
    while (parts > 0) body(--parts);
  };
  EXPECT_EQ(SumOfSquares(values), SumOfSquares(values, backwards));
  long double expected = 0;
  for (const float value : values)
    expected += static_cast<long double>(value) * static_cast<long double>(value);
  EXPECT_NEAR(SumOfSquares(values), static_cast<double>(expected), 1e-12 * static_cast<double>(expected));
  EXPECT_EQ(SumOfSquares({}), 0);
}

}  // namespace
}  // namespace tributary::inline policy
