#include <gtest/gtest.h>

#include "tributary/dashboard/board.h"

namespace tributary::inline dashboard {
namespace {

// What it should keep, from all points at once: the smallest stride of two's powers with which they fit.
std::vector<int> Naive(int count, std::size_t most) {
  for (int stride = 1;; stride *= 2) {
    std::vector<int> kept;
    for (int i = 0; i < count; i += stride) kept.push_back(i);
    if (!kept.empty() && kept.back() != count - 1) kept.push_back(count - 1);
    if (kept.size() <= most) return kept;
  }
}

TEST(Downsampled, KeepsEveryOfATwosPowerAndTheNewest) {
  for (const std::size_t most : {2, 3, 4, 7, 8, 100}) {
    Downsampled<int> series(most);
    std::uint64_t downsamplings = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::vector<int> before = series.points();
      series.Add(i);
      ASSERT_LE(series.points().size(), most);
      ASSERT_EQ(series.points().back(), i);
      ASSERT_EQ(series.points().front(), 0);
      ASSERT_EQ(series.seen(), static_cast<std::uint64_t>(i) + 1);
      // Whoever has the points and no thinning happens gets on with the newest alone.
      if (series.downsamplings() != downsamplings) {
        downsamplings = series.downsamplings();
      } else if (!before.empty()) {
        const std::size_t common = std::min(before.size(), series.points().size()) - 1;
        ASSERT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(common),
                               series.points().begin()));
      }
    }
    EXPECT_EQ(series.points(), Naive(1000, most)) << most;
  }
}

}  // namespace
}  // namespace tributary::inline dashboard
