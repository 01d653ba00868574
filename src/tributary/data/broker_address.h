#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary {

enum class BrokerKind { kKafka, kMqtt };

// Where a broker is: "kafka://host:9092", "mqtt://host:1883". The port may be left out; Kafka takes several places,
// "kafka://a:9092,b:9092".
struct BrokerAddress {
  BrokerKind kind = BrokerKind::kKafka;
  std::string host;  // Of Kafka: all places with their ports, as its library reads them.
  int port = 0;      // Of MQTT.

  friend bool operator==(const BrokerAddress&, const BrokerAddress&) = default;
};

StatusOr<BrokerAddress> ParseBrokerAddress(std::string_view text);

// The same again, whole.
std::string FormatBrokerAddress(const BrokerAddress& address);

// What both kinds of broker take as the name of a topic: letters, digits, '.', '_', '-'; MQTT also '/'. At most 249.
Status CheckTopic(BrokerKind kind, std::string_view topic);

}  // namespace tributary
