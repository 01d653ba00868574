#include <gtest/gtest.h>

#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/policy/compression/gradient_compressor.h"

namespace tributary::inline policy {
namespace {

using Floats = std::vector<float>;

// One step over one unit, as the other side decodes it.
Floats SendAsFp16(GradientCompressor& compressor, Floats gradient, std::size_t longest = 1000) {
  compressor.BeginStep();
  EncodedBlocks out(longest);
  EXPECT_TRUE(compressor.Push(0, 0, gradient, out).ok());
  compressor.EndStep();
  Floats seen(gradient.size());
  for (const EncodedBlocks::Block& block : out.blocks()) {
    auto bytes = out.bytes(block);
    EXPECT_LE(bytes.size(), 2 * block.count + 6);
    const auto unit = EncodedUnit::Parse(bytes, block.count, CodecNamed("fp16")->form);
    EXPECT_TRUE(unit.ok() && bytes.empty()) << unit.status();
    unit->CopyTo(std::span(seen).subspan(block.offset, block.count));
  }
  return seen;
}

TEST(Fp16Codec, SendsTheNearestSixteenBitNumber) {
  const CompressionOptions options{.kind = CodecNamed("fp16"), .error_feedback = false};
  // Exact; ties to the even neighbour; beyond the range; the smallest above zero; half of it.
  const Floats values = {0,    -1,     0.5F,     65504,   1 + 0x1p-11F, 1 + 3 * 0x1p-11F,
                         1e6F, -1e30F, 0x1p-24F, 0x1p-25F};
  const Floats nearest = {0, -1, 0.5F, 65504, 1, 1 + 0x1p-9F, 65504, -65504, 0x1p-24F, 0};
  GradientCompressor compressor(options, {values.size()}, {});
  EXPECT_EQ(SendAsFp16(compressor, values), nearest);
}

TEST(Fp16Codec, WithErrorFeedbackLosesNothingOverTime) {
  constexpr std::size_t kSize = 5'000;
  Rng rng(3);
  Floats residual(kSize);
  GradientCompressor compressor({.kind = CodecNamed("fp16")}, {kSize}, residual);
  std::vector<double> sent(kSize), meant(kSize);
  for (int step = 0; step < 50; ++step) {
    Floats gradient(kSize);
    for (float& value : gradient) value = static_cast<float>(0.01 * Normal(rng));
    const Floats seen = SendAsFp16(compressor, gradient, step % 2 == 0 ? 1000 : 100'000);
    for (std::size_t i = 0; i < kSize; ++i) {
      sent[i] += static_cast<double>(seen[i]);
      meant[i] += static_cast<double>(gradient[i]);
    }
  }
  // What is not sent yet is less than a rounding of one step.
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(sent[i], meant[i], 1e-4) << i;
}

TEST(Fp16Codec, WhatIsNoUnitIsRefusedInWords) {
  const UnitForm* const form = CodecNamed("fp16")->form;
  std::vector<std::byte> bytes;
  AppendOwnHeading(2, bytes);
  bytes.insert(bytes.end(), {std::byte{0}, std::byte{0x3c}, std::byte{0}, std::byte{0x7c}});  // 1, infinity
  const auto refusal = [&](std::size_t size, std::size_t count, const UnitForm* own) {
    std::span<const std::byte> some = std::span(bytes).first(size);
    return EncodedUnit::Parse(some, count, own).status().message();
  };
  EXPECT_EQ(refusal(bytes.size(), 2, form), "an encoded unit holds a value that is not finite");
  EXPECT_EQ(refusal(bytes.size() - 1, 2, form), "an encoded unit needs 4 more bytes; found 3");
  EXPECT_EQ(refusal(bytes.size(), 2, nullptr),
            "an encoded unit has a form that this experiment's codec does not use");
  EXPECT_NE(refusal(bytes.size(), 3, form), "");
}

}  // namespace
}  // namespace tributary::inline policy
