#include "tributary/data/polled_stream.h"

#include <gtest/gtest.h>

#include "tributary/base/rng.h"
#include "tributary/data/replay_stream.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Dataset> Numbered(int samples) {
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < samples; ++i) {
    values.push_back(static_cast<float>(i));
    labels.push_back(i % 2);
  }
  return std::make_shared<const Dataset>(
      Dataset::Make({"numbered", {1, 1, 1}, 2, {}}, std::move(values), std::move(labels)).value());
}

std::unique_ptr<Stream> At(const RateProgramme& programme, std::int64_t total = 0) {
  return MakeReplayStream(Numbered(7), {0, 1, 2, 3, 4, 5, 6}, PlayAtRate(programme, 7, 1, DeviceId{0}),
                          {.total = total});
}

// Whatever is asked in whatever order, the answers are those of the programme that the stream plays.
TEST(PolledStream, KnowsWhatTheProgrammeOfItsStreamKnows) {
  const RateProgramme programme =
      RateProgramme::Make({50}, {{RateProgramme::Burst{4, 2s, 10s}, 60s}, {RateProgramme::Hold{0}, 20s}},
                          RateProgramme::After::kRepeat)
          .value();
  const SampleFormat format = FormatOf(*Numbered(7));
  PolledStream stream(At(programme), format);
  Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    const auto time = TimePoint(static_cast<std::int64_t>(rng.Below(200'000'000'000)));
    const auto count = static_cast<std::int64_t>(rng.Below(9000));
    EXPECT_EQ(stream.Arrived(time), programme.Arrived(time));
    EXPECT_EQ(stream.TimeOf(count), programme.TimeOf(count)) << count;
  }
  ReplayOrder order(7, 1, DeviceId{0});
  const auto samples = stream.Samples(100, 20, {});
  ASSERT_TRUE(samples.ok());
  for (int i = 0; i < 20; ++i) {
    float value = 0;
    samples->ReadPlain(static_cast<std::size_t>(i), {&value, 1});
    EXPECT_EQ(value, static_cast<float>(order.At(100 + i)));
  }
}

TEST(PolledStream, WhatNeverComesHasNoTime) {
  const SampleFormat format = FormatOf(*Numbered(7));
  PolledStream ends(At(RateProgramme::Make({10}).value(), 25), format);
  EXPECT_EQ(ends.TimeOf(25), RateProgramme::Make({10})->TimeOf(25));
  EXPECT_EQ(ends.TimeOf(26), std::nullopt);
  EXPECT_EQ(ends.Arrived(1000s), 25);
  PolledStream silent(At(RateProgramme::Make({0}).value()), format);
  EXPECT_EQ(silent.TimeOf(1), std::nullopt);
  EXPECT_EQ(silent.TimeOf(0), 0s);
}

TEST(PolledStream, HoldsWhatIsNotForgottenAndNoMoreThanAsked) {
  const SampleFormat format = FormatOf(*Numbered(7));
  PolledStream stream(At(RateProgramme::Make({1000}).value()), format, Bytes{8000});  // of four bytes each
  EXPECT_LT(stream.Arrived(1000s), 2000 + 1024);
  const std::int64_t waits = stream.Arrived(1000s);
  EXPECT_EQ(stream.TimeOf(50'000),
            RateProgramme::Make({1000})->TimeOf(50'000));  // Somebody waits for them: they are brought.
  stream.Forget(49'000);
  EXPECT_EQ(stream.Samples(49'000, 1000, {})->size(), 1000U);
  EXPECT_GT(stream.Arrived(1000s), 50'000);
  EXPECT_GT(stream.Arrived(1000s), waits);
}

class WrongStream : public Stream {
 public:
  void Poll(TimePoint, const PollLimits&, std::vector<StreamSample>& out) override {
    StreamSample sample{.position = 8, .label = 2, .element = SampleElement::kFloat, .payload = {}};
    sample.payload.resize(4);
    out.push_back(std::move(sample));
  }
  Status Seek(std::int64_t) override { return OkStatus(); }
  void Commit(std::int64_t) override {}
  StreamState state() const override { return {StreamPhase::kConnected, ""}; }
  std::optional<std::string> TakeNews() override { return std::nullopt; }
  StreamCounts counts() const override { return {}; }
  void Close() override {}
};

TEST(PolledStream, SaysWhichSampleDoesNotFit) {
  PolledStream stream(std::make_unique<WrongStream>(), FormatOf(*Numbered(7)));
  EXPECT_EQ(stream.TimeOf(1), std::nullopt);
  EXPECT_EQ(stream.Arrived(1s), 0);
  EXPECT_NE(stream.status().message().find("sample 8 of the stream"), std::string::npos) << stream.status();
}

}  // namespace
}  // namespace tributary::inline data
