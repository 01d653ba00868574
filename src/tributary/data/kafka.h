#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <string_view>

#include "tributary/data/broker.h"

namespace tributary::inline data::kafka {

struct Destroy {
  void operator()(rd_kafka_conf_t* settings) const { rd_kafka_conf_destroy(settings); }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_error_t* error) const { rd_kafka_error_destroy(error); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_AdminOptions_t* options) const { rd_kafka_AdminOptions_destroy(options); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

// One partition of a topic, with an offset.
Owned<rd_kafka_topic_partition_list_t> At(const std::string& topic, std::int64_t offset);

// The library's settings: defaults, then `own`, then `user`; later ones take precedence. Logging is off
// unless the user sets "debug".
StatusOr<Owned<rd_kafka_conf_t>> MakeSettings(const BrokerAddress& address, const BrokerSettings& own,
                                              const BrokerSettings& user);

// Creates a client, which takes the settings. The caller must call rd_kafka_destroy.
StatusOr<rd_kafka_t*> MakeClient(rd_kafka_type_t type, Owned<rd_kafka_conf_t> settings);

// Whether the library's statistics (JSON) show a connection to a broker. Error callbacks are not sufficient:
// each comes once, and fetched messages are read after it.
bool AnyBrokerIsUp(std::string_view statistics);

// The state of partition 0 of a topic in the statistics.
struct PartitionState {
  bool leader_is_up = false;
  bool behind = false;  // There is more to fetch, or that is unknown.
};
PartitionState StateOf(std::string_view statistics, const std::string& topic);

}  // namespace tributary::inline data::kafka
