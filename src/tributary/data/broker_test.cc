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

TEST(BrokerAddress, RefusesAPasswordWithoutRepeatingIt) {
  for (const char* text : {"mqtt://me:hunter2@host", "kafka://me:hunter2@a:9092,b", "mqtt://hunter2@"}) {
    const std::string words = ParseBrokerAddress(text).status().message();
    EXPECT_EQ(words.find("hunter2"), std::string::npos) << words;
    EXPECT_NE(words.find("password=@FILE"), std::string::npos) << words;
  }
}

TEST(BrokerSettings, KnowWhichAreSecret) {
  for (const char* name : {"password", "sasl.password", "ssl.key.password", "ssl.key.pem", "client.secret"})
    EXPECT_TRUE(IsSecretSetting(name)) << name;
  for (const char* name : {"username", "cafile", "security.protocol", "ssl.ca.location"})
    EXPECT_FALSE(IsSecretSetting(name)) << name;
}

TEST(BrokerSettings, TakeMqttInPlainTextOnlyOnThisMachineOrWithConsent) {
  const auto check = [](const char* address, const BrokerSettings& settings) {
    return CheckBrokerSettings(ParseBrokerAddress(address).value(), settings);
  };
  EXPECT_TRUE(check("mqtt://localhost", {}).ok());
  EXPECT_TRUE(check("mqtt://[::1]:1883", {{"username", "me"}}).ok());
  EXPECT_TRUE(check("mqtt://gateway", {{"cafile", "ca.pem"}}).ok());
  EXPECT_TRUE(check("mqtt://gateway", {{"insecure", "yes"}}).ok());
  EXPECT_TRUE(check("mqtt://gateway", {{"cafile", "a"}, {"certfile", "b"}, {"keyfile", "c"}}).ok());
  EXPECT_TRUE(check("kafka://gateway", {{"security.protocol", "ssl"}}).ok());
  const Status plain = check("mqtt://gateway", {{"username", "me"}});
  EXPECT_NE(plain.message().find("mqtt://gateway:1883 is not on this machine"), std::string::npos) << plain;
  EXPECT_NE(plain.message().find("--broker-setting insecure=yes"), std::string::npos) << plain;
  EXPECT_FALSE(check("mqtt://gateway", {{"insecure", "no"}}).ok());
  EXPECT_FALSE(check("mqtt://localhost", {{"cafile", "a"}, {"certfile", "b"}}).ok());
  EXPECT_FALSE(check("mqtt://localhost", {{"certfile", "b"}, {"keyfile", "c"}}).ok());
  EXPECT_NE(check("mqtt://localhost", {{"usernam", "me"}}).message().find("did you mean 'username'"),
            std::string::npos);
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
