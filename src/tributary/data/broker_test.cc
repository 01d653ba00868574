#include "tributary/data/broker.h"

#include <gtest/gtest.h>

namespace tributary::inline data {
namespace {

TEST(BrokerAddress, ReadsWhatItWrites) {
  for (const char* text : {"kafka://broker:9093", "kafka://a:1,b:65535", "kafka://[::1]:9092",
                           "mqtt://10.0.0.2:1884", "mqtt://[fe80::1%eth0]:1883"}) {
    const auto address = ParseBrokerAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(FormatBrokerAddress(*address), text);
  }
}

TEST(BrokerAddress, KnowsTheUsualPorts) {
  EXPECT_EQ(ParseBrokerAddress("kafka://a,b")->host, "a:9092,b:9092");
  EXPECT_EQ(ParseBrokerAddress("mqtt://pi.local")->port, 1883);
}

TEST(BrokerAddress, RefusesWithWhatIsAllowed) {
  for (const char* text :
       {"", "a:9092", "http://a", "kafka://", "kafka://a,", "kafka://a:0", "kafka://a:65536", "kafka://a:x",
        "mqtt://a:", "mqtt://[::1", "mqtt://[::1]x", "mqtt://a b", "mqtt://a/b", "mqtt://a:1,b:2"}) {
    const auto address = ParseBrokerAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_NE(address.status().message().find("kafka://HOST:PORT"), std::string::npos) << address.status();
  }
}

TEST(BrokerAddress, RefusesTopicsThatTheBrokerWould) {
  EXPECT_TRUE(CheckTopic(BrokerKind::kKafka, "glyphs-0.raw_A").ok());
  EXPECT_TRUE(CheckTopic(BrokerKind::kMqtt, "home/pi-1").ok());
  EXPECT_FALSE(CheckTopic(BrokerKind::kKafka, "home/pi-1").ok());
  for (const std::string& topic : {std::string(), std::string("."), std::string("a b"), std::string("a/#"),
                                   std::string("+"), std::string(250, 'a')}) {
    EXPECT_FALSE(CheckTopic(BrokerKind::kKafka, topic).ok()) << topic;
    EXPECT_FALSE(CheckTopic(BrokerKind::kMqtt, topic).ok()) << topic;
  }
}

}  // namespace

}  // namespace tributary::inline data
