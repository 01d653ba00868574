#include "tributary/telemetry/digest.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace tributary::inline telemetry {
namespace {

std::string HexOf(std::string_view text) {
  Digest digest;
  digest.Add(std::as_bytes(std::span(text)));
  return digest.Hex();
}

// Values of the xxhsum program (XXH128), so that the digest of a file can be checked without ours.
TEST(Digest, IsTheOneThatXxhsumPrints) {
  EXPECT_EQ(HexOf(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(HexOf("abc"), "06b05ab6733a618578af5f94892f3950");
}

TEST(Digest, OnlyTheSequenceOfBytesCounts) {
  std::vector<float> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.37F;
  Digest whole;
  whole.Add(values);
  Digest pieces;
  for (std::size_t begin = 0, count = 0; begin < values.size(); begin += count++) {
    count = std::min(count, values.size() - begin);
    pieces.Add(std::as_bytes(std::span(values).subspan(begin, count)));
  }
  pieces.Add(ByteSpan());
  EXPECT_EQ(whole.Hex(), pieces.Hex());
  EXPECT_EQ(whole.Hex(), whole.Hex());
  pieces.Add(std::span<const float>(values).first(1));
  EXPECT_NE(whole.Hex(), pieces.Hex());
}

TEST(Digest, OneBitMatters) {
  const float zero = 0.0F;
  const float minus_zero = -0.0F;
  Digest a;
  Digest b;
  a.Add(std::span(&zero, 1));
  b.Add(std::span(&minus_zero, 1));
  EXPECT_NE(a.Hex(), b.Hex());
}

}  // namespace
}  // namespace tributary::inline telemetry
