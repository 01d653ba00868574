#include "tributary/fleet/protocol/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tributary/base/rng.h"

namespace tributary::inline protocol {
namespace {

TEST(PieceGrid, CutsTheArrayIntoFullPieces) {
  EXPECT_EQ(PieceGrid(10, 4).Pieces({0, 10}), (std::vector<Segment>{{0, 4}, {4, 4}, {8, 2}}));
  EXPECT_EQ(PieceGrid(8, 4).Pieces({0, 8}), (std::vector<Segment>{{0, 4}, {4, 4}}));
  EXPECT_EQ(PieceGrid(20, 4, {{0, 3}, {3, 6}, {9, 11}}).Pieces({3, 6}),
            (std::vector<Segment>{{3, 1}, {4, 4}, {8, 1}}));
  EXPECT_TRUE(PieceGrid(0, 4).Pieces({0, 0}).empty());
}

TEST(PieceGrid, HasBordersAtMultiplesLayersAndTheEnd) {
  const PieceGrid grid(11, 4, {{0, 3}, {3, 0}, {3, 6}, {9, 2}});
  std::vector<std::size_t> borders;
  for (std::size_t i = 0; i <= 11; ++i) {
    if (grid.IsBorder(i)) borders.push_back(i);
  }
  EXPECT_EQ(borders, (std::vector<std::size_t>{0, 3, 4, 8, 9, 11}));
}

TEST(Coverage, OfAnEmptyArrayIsCompleteAndTakesNothing) {
  const PieceGrid grid(0, 4);
  Coverage coverage(grid);
  EXPECT_TRUE(coverage.complete());
  EXPECT_FALSE(coverage.Take(0, 0).ok());
  EXPECT_FALSE(coverage.Take(0, 1).ok());
}

TEST(Coverage, SaysWhatIsWrong) {
  const PieceGrid grid(10, 4);
  Coverage coverage(grid);
  ASSERT_TRUE(coverage.Take(4, 4).ok());
  EXPECT_EQ(coverage.Take(0, 0), Corrupt("a piece has no values"));
  EXPECT_EQ(coverage.Take(8, 4), Corrupt("a piece has 4 values from 8 on, but the array has 10"));
  EXPECT_EQ(coverage.Take(0, 3),
            Corrupt("a piece goes from 0 to 3, which is not where pieces may begin and end"));
  EXPECT_EQ(coverage.Take(0, 8), Corrupt("a piece goes from 0 to 8, of which some came before"));
  EXPECT_EQ(coverage.Take(4, 6), Corrupt("a piece goes from 4 to 10, of which some came before"));
}

TEST(Coverage, DoesNotOverflow) {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  const PieceGrid grid(8, 4);
  Coverage coverage(grid);
  for (const auto& [offset, count] : std::vector<std::pair<std::size_t, std::size_t>>{
           {kHuge, 1}, {kHuge - 3, 4}, {4, kHuge}, {4, kHuge - 3}, {kHuge, kHuge}, {8, 1}, {9, 0}}) {
    EXPECT_FALSE(coverage.Take(offset, count).ok()) << offset << " " << count;
  }
  EXPECT_TRUE(coverage.Take(0, 8).ok());
  EXPECT_TRUE(coverage.complete());
}

TEST(Coverage, AgreesWithABitmap) {
  Rng rng(2);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t size = 1 + rng.Below(40);
    const std::size_t piece = 1 + rng.Below(6);
    std::vector<Segment> layers;
    for (std::size_t at = 0; at < size;) {
      const std::size_t count = std::min<std::size_t>(rng.Below(8), size - at);
      layers.push_back({at, count});
      at += count;
    }
    const PieceGrid grid(size, piece, layers);
    const auto border = [&](std::size_t at) {
      return at % piece == 0 || at == size ||
             std::ranges::any_of(layers, [&](const Segment& layer) { return layer.offset == at; });
    };
    Coverage coverage(grid);
    std::vector<bool> came(size);
    for (int i = 0; i < 400; ++i) {
      const std::size_t offset = rng.Below(size + 3);
      const std::size_t count = rng.Below(10);
      bool fits = count > 0 && offset + count <= size && border(offset) && border(offset + count);
      for (std::size_t at = offset; fits && at < offset + count; ++at) fits = !came[at];
      ASSERT_EQ(coverage.Take(offset, count).ok(), fits);
      if (fits) std::fill_n(came.begin() + static_cast<std::ptrdiff_t>(offset), count, true);
      ASSERT_EQ(coverage.complete(), std::ranges::all_of(came, [](bool bit) { return bit; }));
    }
  }
}

}  // namespace
}  // namespace tributary::inline protocol
