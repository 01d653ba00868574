#include "tributary/data/replay_stream.h"

#include <gtest/gtest.h>

#include <set>

#include "tributary/data/glyphs.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ReplayStreamTest : public testing::Test {
 protected:
  std::unique_ptr<Stream> Make(double rate, std::int64_t total = 0, TimePoint start = 0s) {
    return MakeReplayStream(data_, part_,
                            PlayAtRate(*RateProgramme::Make({rate}), part_.size(), 3, DeviceId{2}),
                            {.start = start, .total = total});
  }

  const std::shared_ptr<const Dataset> data_ =
      std::make_shared<const Dataset>(MakeGlyphs({.train = 60, .test = 10, .side = 16}).train);
  const std::vector<std::uint32_t> part_ = {1, 5, 8, 13, 21, 34, 55};
};

TEST_F(ReplayStreamTest, BringsEveryEpochEachSampleOfThePart) {
  const auto stream = Make(10);
  std::vector<StreamSample> samples;
  stream->Poll(2100ms, {}, samples);
  ASSERT_EQ(samples.size(), 21U);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::string> seen, held;
    for (std::size_t i = 0; i < 7; ++i) {
      seen.insert(TextOf(samples[7 * epoch + i].payload));
      held.insert(TextOf(data_->Held(part_[i])));
    }
    EXPECT_EQ(seen, held);
    EXPECT_EQ(seen.size(), 7U);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].position, static_cast<std::int64_t>(i));
    EXPECT_NEAR(ToSeconds(samples[i].produced), 0.1 * static_cast<double>(i + 1), 1e-6);
  }
}

TEST_F(ReplayStreamTest, DoesNotDependOnWhenItIsPolled) {
  const auto once = Make(50, 0, 1s), often = Make(50, 0, 1s);
  std::vector<StreamSample> all, pieces;
  once->Poll(4s, {.samples = 1000}, all);
  for (TimePoint now{0}; now <= 4s; now += 17ms) often->Poll(now, {.samples = 3}, pieces);
  while (pieces.size() < all.size()) often->Poll(4s, {.samples = 3}, pieces);
  EXPECT_EQ(all.size(), 150U);
  EXPECT_EQ(all, pieces);
}

TEST_F(ReplayStreamTest, KeepsToTheLimits) {
  const auto stream = Make(1000);
  std::vector<StreamSample> samples;
  stream->Poll(1s, {.samples = 5}, samples);
  EXPECT_EQ(samples.size(), 5U);
  samples.clear();
  stream->Poll(1s, {.bytes = Bytes{3 * 16 * 16 * 2 + 1}}, samples);
  EXPECT_EQ(samples.size(), 3U);
}

TEST_F(ReplayStreamTest, IsSoughtAnywhere) {
  const auto stream = Make(10), again = Make(10);
  std::vector<StreamSample> all, rest;
  stream->Poll(5s, {}, all);
  EXPECT_FALSE(again->Seek(-1).ok());
  ASSERT_TRUE(again->Seek(30).ok());
  again->Poll(5s, {}, rest);
  EXPECT_EQ(rest, std::vector<StreamSample>(all.begin() + 30, all.end()));
  ASSERT_TRUE(stream->Seek(30).ok());
  rest.clear();
  stream->Poll(5s, {}, rest);
  EXPECT_EQ(rest.size(), 20U);
}

TEST_F(ReplayStreamTest, EndsAndSaysSoOnce) {
  const auto stream = Make(10, 4);
  std::vector<StreamSample> samples;
  stream->Poll(300ms, {}, samples);
  EXPECT_FALSE(stream->TakeNews());
  stream->Poll(100s, {}, samples);
  EXPECT_EQ(samples.size(), 4U);
  EXPECT_EQ(stream->state().phase, StreamPhase::kStopped);
  EXPECT_EQ(stream->TakeNews(), "replay of glyphs: at its end");
  EXPECT_FALSE(stream->TakeNews());
  EXPECT_EQ(stream->counts().delivered, 4);
}

}  // namespace
}  // namespace tributary::inline data
