#include "tributary/data/broker.h"

#ifdef TRIBUTARY_KAFKA
#include "tributary/data/kafka_publisher.h"
#include "tributary/data/kafka_stream.h"
#endif
#ifdef TRIBUTARY_MQTT
#include "tributary/data/mqtt_publisher.h"
#include "tributary/data/mqtt_stream.h"
#endif

namespace tributary {
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

}  // namespace tributary
