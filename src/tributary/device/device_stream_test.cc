#include "tributary/device/device_stream.h"

#include <gtest/gtest.h>

#include "tributary/data/replay_stream.h"

namespace tributary::inline device {
namespace {

TEST(DeviceStream, PlacesAreWhatTheirOwnersWrite) {
  const auto kafka = ParseStreamPlace("kafka://a:9092,b:9093/plant.door-3");
  ASSERT_TRUE(kafka.ok()) << kafka.status();
  EXPECT_EQ(std::get<TopicPlace>(*kafka).address.kind, BrokerKind::kKafka);
  EXPECT_EQ(std::get<TopicPlace>(*kafka).topic, "plant.door-3");
  const auto mqtt = ParseStreamPlace("mqtt://gateway/home/kitchen");
  ASSERT_TRUE(mqtt.ok()) << mqtt.status();
  EXPECT_EQ(std::get<TopicPlace>(*mqtt).address.port, 1883);
  EXPECT_EQ(std::get<TopicPlace>(*mqtt).topic, "home/kitchen");
  const auto recorded = ParseStreamPlace("recorded:20");
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(std::get<RecordedPlace>(*recorded).speed, 20);
  const auto replay = ParseStreamPlace("replay:12.5");
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(std::get<ReplayPlace>(*replay).programme.rate().value, 12.5);
}

TEST(DeviceStream, OtherPlacesAreRefusedWithWhatIsAllowed) {
  for (const char* text : {"", "kafka", "kafka://host", "kafka://host/", "kafka:///topic", "mqtt://host/a#b",
                           "mqtt://host/a/+", "http://host/topic", "replay:", "replay:0", "replay:-1",
                           "replay:fast", "recorded:", "recorded:0", "recorded:x", "kafka://host/a b"}) {
    const auto place = ParseStreamPlace(text);
    ASSERT_FALSE(place.ok()) << text;
    EXPECT_NE(place.status().message().find("replay:RATE"), std::string::npos) << place.status();
  }
}

// A device that comes back: what is due now is what it had not used.
TEST(DeviceStream, AReplayGoesOnWhereItWas) {
  DatasetInfo info{"d", {1, 1, 1}, 10, {}};
  std::vector<std::uint8_t> values(10);
  std::vector<std::int32_t> labels(10);
  for (int i = 0; i < 10; ++i) labels[static_cast<std::size_t>(i)] = i;
  auto dataset = Dataset::Make(info, values, labels);
  ASSERT_TRUE(dataset.ok());
  DeviceStreamOptions options{
      .format = FormatOf(*dataset), .buffer = BufferPolicy::kTruncate, .part = {3, 4, 5}, .seed = 5};
  options.dataset = std::make_shared<const Dataset>(std::move(*dataset));
  options.from = 1'000'000;
  const auto clock = MakeRealClock();
  const auto place = ParseStreamPlace("replay:1000");
  auto source = OpenDeviceStream(*place, options, *clock);
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_TRUE((*source)->Seek(options.from).ok());
  const TimePoint begun = clock->Now();
  const auto samples = (*source)->Take(5, {});
  ASSERT_TRUE(samples.ok());
  EXPECT_LT(clock->Now() - begun, std::chrono::seconds(20));
  EXPECT_GE(samples->front().position, options.from);
  ReplayOrder order(3, 5, DeviceId{0});
  EXPECT_EQ(samples->front().label, 3 + static_cast<int>(order.At(samples->front().position)));
  options.part.clear();
  EXPECT_FALSE(OpenDeviceStream(*place, options, *clock).ok());
}

}  // namespace
}  // namespace tributary::inline device
