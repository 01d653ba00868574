#include "tributary/device/update_compressor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tributary/base/distributions.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline device {
namespace {

class UpdateCompressorTest : public testing::Test {
 protected:
  UpdateCompressorTest() : model_(std::make_shared<const Model>(BuildZooGraph({.name = "resnet8"}).value())) {
    folder_ = std::filesystem::temp_directory_path() / ("tributary-compressor-" + std::to_string(::getpid()));
  }
  ~UpdateCompressorTest() override { std::filesystem::remove_all(folder_); }

  std::vector<float> GradientOf(std::uint64_t round) const {
    Rng rng = Rng::ForStream(3, DeviceId{0}, "gradient", round);
    std::vector<float> values(model_->parameters.size);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    return values;
  }
  UpdateCompressor New(CompressionKind kind) const {
    return UpdateCompressor({.kind = kind, .delta = 0.6}, model_, 1000);
  }

  // What the coordinator sees of a round's update.
  std::vector<float> Seen(UpdateCompressor& compressor, std::uint64_t round, std::uint64_t from) const {
    std::vector<float> gradient = GradientOf(round), seen(gradient.size());
    const auto bytes = compressor.Apply(RoundId{round}, RoundId{from}, {gradient, {}, 1}, seen);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_GT(*bytes, 0);
    return seen;
  }

  std::shared_ptr<const Model> model_;
  std::filesystem::path folder_;
};

const CompressionKind kKinds[] = {CodecNamed("top-k"), CodecNamed("adaptive-top-k"), CodecNamed("int8")};

TEST_F(UpdateCompressorTest, SendsByRunsWhatItSendsAtOnce) {
  for (const CompressionKind& kind : kKinds) {
    UpdateCompressor whole = New(kind), cut = New(kind);
    for (std::uint64_t round = 1; round <= 5; ++round) {
      const std::vector<float> expected = Seen(whole, round, round - 1);
      std::vector<float> gradient = GradientOf(round), seen(gradient.size());
      EXPECT_TRUE(cut.Begin(RoundId{round}, RoundId{round - 1}));
      EncodedBlocks blocks;
      const std::size_t units = model_->units.size();
      for (const auto& [first, last] :
           {std::pair(units / 2, units - 1), std::pair(std::size_t{1}, units / 2 - 1),
            std::pair(std::size_t{0}, std::size_t{0})}) {
        ASSERT_TRUE(cut.Encode(first, last, {gradient, {}, 1}, blocks).ok());
        for (const auto& block : blocks.blocks()) {
          EXPECT_LE(block.count, 1000U);
          auto bytes = blocks.bytes(block);
          EncodedUnit::Parse(bytes, block.count)
              .value()
              .CopyTo(std::span(seen).subspan(block.offset, block.count));
        }
      }
      cut.End();
      EXPECT_EQ(seen, expected);
    }
  }
}

TEST_F(UpdateCompressorTest, ARoundThatDidNotCountIsAsIfItHadNeverBeen) {
  for (const CompressionKind& kind : kKinds) {
    UpdateCompressor straight = New(kind), disturbed = New(kind);
    Seen(straight, 1, 0);
    Seen(disturbed, 1, 0);
    const std::vector<float> third = Seen(straight, 3, 1);
    Seen(disturbed, 2, 1);  // Late: the coordinator goes on from round 1.
    EXPECT_EQ(Seen(disturbed, 3, 1), third);
    EXPECT_EQ(Seen(disturbed, 3, 1), third);  // Asked again, as after a broken connection.
    EXPECT_EQ(Seen(disturbed, 4, 3), Seen(straight, 4, 3));
  }
}

TEST_F(UpdateCompressorTest, ARoundGivenUpHalfWayLeavesNoTrace) {
  UpdateCompressor straight = New(CodecNamed("top-k")), disturbed = New(CodecNamed("top-k"));
  Seen(straight, 1, 0);
  Seen(disturbed, 1, 0);
  std::vector<float> gradient = GradientOf(2);
  EncodedBlocks blocks;
  disturbed.Begin(RoundId{2}, RoundId{1});
  ASSERT_TRUE(disturbed.Encode(3, 4, {gradient, {}, 1}, blocks).ok());
  EXPECT_EQ(Seen(disturbed, 2, 1), Seen(straight, 2, 1));
}

TEST_F(UpdateCompressorTest, SurvivesItsProcess) {
  for (const CompressionKind& kind : kKinds) {
    UpdateCompressor straight = New(kind);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      Seen(straight, round, round - 1);
      ASSERT_TRUE(straight.Save(folder_, RoundId{1}).ok());
    }
    // The coordinator may go on from the last round, from the one before it, or from the one it asked to keep.
    const std::vector<float> fourth = Seen(straight, 4, 3);
    UpdateCompressor again = New(kind);
    ASSERT_TRUE(again.Load(folder_, RoundId{3}).ok());
    EXPECT_TRUE(again.Begin(RoundId{4}, RoundId{3}));
    EXPECT_EQ(Seen(again, 4, 3), fourth);
    for (const std::uint64_t from : {1U, 2U}) {
      UpdateCompressor back = New(kind), expected = New(kind);
      ASSERT_TRUE(back.Load(folder_, RoundId{from}).ok());
      EXPECT_TRUE(back.Begin(RoundId{from + 1}, RoundId{from}));
      for (std::uint64_t round = 1; round <= from; ++round) Seen(expected, round, round - 1);
      EXPECT_EQ(Seen(back, from + 1, from), Seen(expected, from + 1, from));
    }
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(UpdateCompressorTest, KeepsOnlyWhatMayBeAskedFor) {
  UpdateCompressor compressor = New(CodecNamed("top-k"));
  for (std::uint64_t round = 1; round <= 8; ++round) {
    Seen(compressor, round, round - 1);
    ASSERT_TRUE(compressor.Save(folder_, RoundId{3}).ok());
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 3U);  // of rounds 3, 7 and 8
}

TEST_F(UpdateCompressorTest, WhatIsLostOrBrokenIsSaidAndForgotten) {
  UpdateCompressor compressor = New(CodecNamed("top-k"));
  EXPECT_TRUE(compressor.Load(folder_, RoundId{5}).ok());
  EXPECT_FALSE(compressor.Begin(RoundId{6}, RoundId{5}));
  UpdateCompressor fresh = New(CodecNamed("top-k"));
  EXPECT_EQ(Seen(compressor, 6, 5), Seen(fresh, 6, 0));
  std::filesystem::create_directories(folder_);
  for (const std::string& text : {std::string(), std::string("nonsense"), std::string(100, 'x')}) {
    std::ofstream(folder_ / "compression-9.safetensors") << text;
    EXPECT_FALSE(compressor.Load(folder_, RoundId{9}).ok());
  }
  // Of another network.
  const auto other = std::make_shared<const Model>(BuildZooGraph({.name = "lenet5"}).value());
  UpdateCompressor small({.kind = CodecNamed("top-k")}, other, 1000);
  std::vector<float> gradient(other->parameters.size, 1), seen(gradient.size());
  ASSERT_TRUE(small.Apply(RoundId{9}, RoundId{0}, {gradient, {}, 1}, seen).ok());
  ASSERT_TRUE(small.Save(folder_, RoundId{0}).ok());
  EXPECT_FALSE(compressor.Load(folder_, RoundId{9}).ok());
  EXPECT_FALSE(compressor.Begin(RoundId{10}, RoundId{9}));
}

}  // namespace
}  // namespace tributary::inline device
