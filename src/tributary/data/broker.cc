#include "tributary/data/broker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "tributary/base/loopback.h"
#include "tributary/base/names.h"

namespace tributary::inline data {
namespace {

#ifdef TRIBUTARY_KAFKA
constexpr bool kKnowsKafka = true;
#else
constexpr bool kKnowsKafka = false;
#endif
#ifdef TRIBUTARY_MQTT
constexpr bool kKnowsMqtt = true;
#else
constexpr bool kKnowsMqtt = false;
#endif

constexpr std::string_view kKafkaScheme = "kafka://";
constexpr std::string_view kMqttScheme = "mqtt://";
constexpr int kKafkaPort = 9092;
constexpr int kMqttPort = 1883;

Status BadAddress(std::string_view text, std::string_view why) {
  return InvalidArgument(fmt::format(
      "'{}' is not the address of a broker: {}; write kafka://HOST:PORT or mqtt://HOST:PORT", text, why));
}

bool OnlyLettersDigitsAnd(std::string_view others, std::string_view text) {
  return std::ranges::all_of(text, [&](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || others.find(letter) != others.npos;
  });
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
  if (!OnlyLettersDigitsAnd(place.starts_with('[') ? ".-_%:" : ".-_%", host))
    return BadAddress(whole, fmt::format("a host is a name or a number, '{}' is neither", host));
  int number = default_port;
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number < 1 || number > 65535)
      return BadAddress(whole, fmt::format("a port lies in 1 to 65535, found '{}'", port));
  }
  return Place{std::string(host), number};
}

std::string FormatPlace(const Place& place) {
  const bool brackets = place.host.find(':') != std::string::npos;
  return (brackets ? "[" + place.host + "]" : place.host) + ":" + std::to_string(place.port);
}

Status NotBuilt(BrokerKind kind) {
  const bool kafka = kind == BrokerKind::kKafka;
  return InvalidArgument(fmt::format("this program was built without {}; configure it with -D{}=ON",
                                     kafka ? "Kafka" : "MQTT", kafka ? "TRIBUTARY_KAFKA" : "TRIBUTARY_MQTT"));
}

constexpr std::array kMqttSettings = {"username", "password", "cafile", "certfile", "keyfile", "insecure"};

std::string ValueOf(const BrokerSettings& settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &BrokerSettings::value_type::first);
  return found == settings.end() ? "" : found->second;
}

}  // namespace

bool IsSecretSetting(std::string_view name) {
  return name.ends_with("password") || name.find("secret") != name.npos || name == "ssl.key.pem" ||
         name == "sasl.jaas.config" || name == "sasl.oauthbearer.config";
}

Status CheckBrokerSettings(const BrokerAddress& address, const BrokerSettings& settings) {
  if (address.kind != BrokerKind::kMqtt) return OkStatus();
  for (const auto& [name, value] : settings) {
    if (std::ranges::find(kMqttSettings, name) == kMqttSettings.end()) {
      return UnknownName("setting of an MQTT broker", name,
                         std::vector<std::string>(kMqttSettings.begin(), kMqttSettings.end()));
    }
    if (name == "insecure" && value != "yes")
      return InvalidArgument("the broker setting insecure is '" + value + "'; allowed: yes");
  }
  const bool tls = !ValueOf(settings, "cafile").empty();
  if (ValueOf(settings, "certfile").empty() != ValueOf(settings, "keyfile").empty() ||
      (!tls && !ValueOf(settings, "certfile").empty())) {
    return InvalidArgument(
        "a client certificate for MQTT takes three settings: certfile, keyfile and cafile");
  }
  if (tls || IsLoopback(address.host) || ValueOf(settings, "insecure") == "yes") return OkStatus();
  return InvalidArgument(fmt::format(
      "{} is not on this machine, and without TLS anybody on the way can read and replace samples and "
      "password; name the broker's authority with --broker-setting cafile=FILE, or add --broker-setting "
      "insecure=yes if that network is trusted",
      FormatBrokerAddress(address)));
}

StatusOr<BrokerAddress> ParseBrokerAddress(std::string_view text) {
  if (text.find('@') != std::string_view::npos) {  // possibly a secret: not in the message
    return InvalidArgument(
        "the address of a broker holds no user or password (it has an '@'); write kafka://HOST:PORT or "
        "mqtt://HOST:PORT, and give them with --broker-setting username=NAME and --broker-setting "
        "password=@FILE (Kafka: sasl.username, sasl.password)");
  }
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
  const bool mqtt = kind == BrokerKind::kMqtt;
  if (!topic.empty() && topic.size() <= kLongest && topic != "." && topic != ".." &&
      OnlyLettersDigitsAnd(mqtt ? "._-/" : "._-", topic)) {
    return OkStatus();
  }
  return InvalidArgument(
      fmt::format("'{}' cannot be a topic: allowed are 1 to 249 letters, digits, '.', '_'{}", topic,
                  mqtt ? ", '-' and '/'" : " and '-'"));
}

// Functions of a broker that the program was built without must not be called: they do not exist.
StatusOr<std::unique_ptr<Stream>> OpenBrokerStream(const BrokerStreamOptions& options) {
  const BrokerKind kind = options.address.kind;
  TRIBUTARY_RETURN_IF_ERROR(CheckTopic(kind, options.topic));
  TRIBUTARY_RETURN_IF_ERROR(CheckBrokerSettings(options.address, options.settings));
  if constexpr (kKnowsKafka) {
    if (kind == BrokerKind::kKafka) return OpenKafkaStream(options);
  }
  if constexpr (kKnowsMqtt) {
    if (kind == BrokerKind::kMqtt) return OpenMqttStream(options);
  }
  return NotBuilt(kind);
}

StatusOr<std::unique_ptr<Publisher>> OpenPublisher(const BrokerAddress& address,
                                                   const BrokerSettings& settings) {
  TRIBUTARY_RETURN_IF_ERROR(CheckBrokerSettings(address, settings));
  if constexpr (kKnowsKafka) {
    if (address.kind == BrokerKind::kKafka) return OpenKafkaPublisher(address, settings);
  }
  if constexpr (kKnowsMqtt) {
    if (address.kind == BrokerKind::kMqtt) return OpenMqttPublisher(address, settings);
  }
  return NotBuilt(address.kind);
}

StatusOr<std::optional<TopicRange>> QueryTopic(const BrokerStreamOptions& options, Duration patience) {
  TRIBUTARY_RETURN_IF_ERROR(CheckTopic(options.address.kind, options.topic));
  if (options.address.kind == BrokerKind::kMqtt) return std::optional<TopicRange>();
  if constexpr (kKnowsKafka) {
    TRIBUTARY_ASSIGN_OR_RETURN(const TopicRange range, QueryKafkaTopic(options, patience));
    return std::optional(range);
  }
  return NotBuilt(BrokerKind::kKafka);
}

}  // namespace tributary::inline data
