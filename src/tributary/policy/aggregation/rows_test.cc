#include "tributary/policy/aggregation/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

struct TestRows {
  // Small whole numbers, so that there are ties.
  TestRows(std::uint64_t seed, std::size_t count, std::size_t width) : values(count * width) {
    Rng rng(seed);
    for (float& value : values) value = static_cast<float>(rng.Below(7)) - 3;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(std::span(values).subspan(i * width, width));
  }
  std::vector<float> Sorted(std::size_t column) const {
    std::vector<float> sorted;
    for (const auto row : rows) sorted.push_back(row[column]);
    std::ranges::sort(sorted);
    return sorted;
  }
  std::vector<float> values;
  std::vector<std::span<float>> rows;
};

TEST(Rows, AreSortedElementByElementForEveryNumberOfThem) {
  for (std::size_t count = 1; count <= 40; ++count) {
    TestRows test(count, count, 50);
    const TestRows before = {count, count, 50};
    SortRows(test.rows);
    for (std::size_t k = 0; k < 50; ++k) {
      const auto expected = before.Sorted(k);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(test.rows[i][k], expected[i]) << count;
    }
  }
}

TEST(Rows, MedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  for (std::size_t count = 1; count <= 12; ++count) {
    TestRows test(count, count, 50);
    const TestRows before = {count, count, 50};
    std::vector<float> median(50);
    MedianOfRows(test.rows, median);
    for (std::size_t k = 0; k < 50; ++k) {
      const auto sorted = before.Sorted(k);
      ASSERT_EQ(median[k], (sorted[(count - 1) / 2] + sorted[count / 2]) / 2) << count;
    }
  }
}

TEST(Rows, AShareIsRoundedUpAndLessThanHalf) {
  EXPECT_EQ(ShareOf(0, 10), 0U);
  EXPECT_EQ(ShareOf(0.1, 30), 3U);  // 0.1 · 30 is above 3 in double
  EXPECT_EQ(ShareOf(0.1, 5), 1U);
  EXPECT_EQ(ShareOf(0.11, 30), 4U);
  EXPECT_EQ(ShareOf(0.5, 4), 1U);
  EXPECT_EQ(ShareOf(0.5, 5), 2U);
  EXPECT_EQ(ShareOf(0.5, 2), 0U);
  EXPECT_EQ(ShareOf(0.5, 1), 0U);
}

}  // namespace
}  // namespace tributary::inline policy
