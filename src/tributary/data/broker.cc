#include "tributary/data/broker.h"

#include <cctype>
#include <charconv>

#ifdef TRIBUTARY_KAFKA
#include "tributary/data/kafka.h"
#endif
#ifdef TRIBUTARY_MQTT
#include "tributary/data/mqtt.h"
#endif

namespace tributary::inline data {
namespace {

constexpr std::string_view kKafkaScheme = "kafka://";
constexpr std::string_view kMqttScheme = "mqtt://";
constexpr int kKafkaPort = 9092;
constexpr int kMqttPort = 1883;

Status BadAddress(std::string_view text, std::string_view why) {
  return InvalidArgument("'" + std::string(text) + "' is not the address of a broker: " + std::string(why) +
                         "; write kafka://HOST:PORT or mqtt://HOST:PORT");
}

struct Place {
  std::string host;
  int port;
};

StatusOr<Place> ParsePlace(std::string_view place, int default_port, std::string_view whole) {
  std::string_view host = place, port;
  if (place.starts_with('[')) {
    const std::size_t close = place.find(']');
    if (close == std::string_view::npos) return BadAddress(whole, "a '[' is not closed");
    host = place.substr(1, close - 1);
    if (const std::string_view rest = place.substr(close + 1); !rest.empty()) {
      if (!rest.starts_with(':')) return BadAddress(whole, "only a port may follow the host");
      port = rest;
    }
  } else if (const std::size_t colon = place.find(':'); colon != std::string_view::npos) {
    host = place.substr(0, colon);
    port = place.substr(colon);
  }
  if (host.empty()) return BadAddress(whole, "it names no host");
  for (const char letter : host) {
    const bool good = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' ||
                      letter == '-' || letter == '_' || letter == '%' ||
                      (letter == ':' && place.starts_with('['));
    if (!good)
      return BadAddress(whole, "a host is a name or a number, '" + std::string(host) + "' is neither");
  }
  int number = default_port;
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number < 1 || number > 65535) {
      return BadAddress(whole, "a port lies in 1 to 65535, found '" + std::string(port) + "'");
    }
  }
  return Place{std::string(host), number};
}

std::string FormatPlace(const Place& place) {
  const bool brackets = place.host.find(':') != std::string::npos;
  return (brackets ? "[" + place.host + "]" : place.host) + ":" + std::to_string(place.port);
}

}  // namespace

StatusOr<BrokerAddress> ParseBrokerAddress(std::string_view text) {
  if (text.starts_with(kMqttScheme)) {
    TRIBUTARY_ASSIGN_OR_RETURN(Place place, ParsePlace(text.substr(kMqttScheme.size()), kMqttPort, text));
    return BrokerAddress{BrokerKind::kMqtt, std::move(place.host), place.port};
  }
  if (!text.starts_with(kKafkaScheme)) return BadAddress(text, "it begins with neither kafka:// nor mqtt://");
  BrokerAddress address{.kind = BrokerKind::kKafka};
  std::string_view rest = text.substr(kKafkaScheme.size());
  while (true) {
    const std::size_t comma = rest.find(',');
    TRIBUTARY_ASSIGN_OR_RETURN(const Place place, ParsePlace(rest.substr(0, comma), kKafkaPort, text));
    address.host += (address.host.empty() ? "" : ",") + FormatPlace(place);
    if (comma == std::string_view::npos) return address;
    rest = rest.substr(comma + 1);
  }
}

std::string FormatBrokerAddress(const BrokerAddress& address) {
  if (address.kind == BrokerKind::kKafka) return std::string(kKafkaScheme) + address.host;
  return std::string(kMqttScheme) + FormatPlace({address.host, address.port});
}

Status CheckTopic(BrokerKind kind, std::string_view topic) {
  constexpr std::size_t kLongest = 249;
  bool good = !topic.empty() && topic.size() <= kLongest && topic != "." && topic != "..";
  for (const char letter : topic) {
    good = good && (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_' ||
                    letter == '-' || (letter == '/' && kind == BrokerKind::kMqtt));
  }
  if (good) return OkStatus();
  return InvalidArgument("'" + std::string(topic) +
                         "' cannot be a topic: allowed are 1 to 249 letters, digits, '.', '_'" +
                         (kind == BrokerKind::kMqtt ? ", '-' and '/'" : " and '-'"));
}

namespace {

[[maybe_unused]] Status NotBuilt(const char* name, const char* option) {
  return InvalidArgument(std::string("this program was built without ") + name + "; configure it with -D" +
                         option + "=ON");
}

}  // namespace

StatusOr<std::unique_ptr<Stream>> OpenBrokerStream(const BrokerStreamOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckTopic(options.address.kind, options.topic));
  if (options.address.kind == BrokerKind::kKafka) {
#ifdef TRIBUTARY_KAFKA
    return OpenKafkaStream(options);
#else
    return NotBuilt("Kafka", "TRIBUTARY_KAFKA");
#endif
  }
#ifdef TRIBUTARY_MQTT
  return OpenMqttStream(options);
#else
  return NotBuilt("MQTT", "TRIBUTARY_MQTT");
#endif
}

StatusOr<std::unique_ptr<Publisher>> OpenPublisher(const BrokerAddress& address,
                                                   [[maybe_unused]] const BrokerSettings& settings) {
  if (address.kind == BrokerKind::kKafka) {
#ifdef TRIBUTARY_KAFKA
    return OpenKafkaPublisher(address, settings);
#else
    return NotBuilt("Kafka", "TRIBUTARY_KAFKA");
#endif
  }
#ifdef TRIBUTARY_MQTT
  return OpenMqttPublisher(address, settings);
#else
  return NotBuilt("MQTT", "TRIBUTARY_MQTT");
#endif
}

StatusOr<std::optional<TopicRange>> QueryTopic(const BrokerStreamOptions& options,
                                               [[maybe_unused]] Duration patience) {
  TRIBUTARY_RETURN_IF_ERROR(CheckTopic(options.address.kind, options.topic));
  if (options.address.kind == BrokerKind::kMqtt) return std::optional<TopicRange>();
#ifdef TRIBUTARY_KAFKA
  TRIBUTARY_ASSIGN_OR_RETURN(const TopicRange range, QueryKafkaTopic(options, patience));
  return std::optional(range);
#else
  return NotBuilt("Kafka", "TRIBUTARY_KAFKA");
#endif
}

}  // namespace tributary::inline data
