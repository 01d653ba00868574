#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// One partition of a topic with an offset.
Owned<rd_kafka_topic_partition_list_t> At(const std::string& topic, std::int64_t offset);

// The library's settings: what every client has, `own`, and then those of the user, which win. Nothing is logged,
// unless the user sets "debug".
StatusOr<Owned<rd_kafka_conf_t>> MakeSettings(const BrokerAddress& address, const BrokerSettings& own,
                                              const BrokerSettings& user);

// A client with these settings, which it takes. The caller ends it by rd_kafka_destroy.
StatusOr<rd_kafka_t*> MakeClient(rd_kafka_type_t type, Owned<rd_kafka_conf_t> settings);

// Whether statistics of the library, its JSON, show a connection to a broker. Errors alone do not tell: they come once, and
// what was fetched before them is read after them.
bool AnyBrokerIsUp(std::string_view statistics);

// What they show of partition 0 of a topic.
struct PartitionState {
  bool leader_is_up = false;
  bool behind = false;  // More lies there than was fetched, or that is not known.
};
PartitionState StateOf(std::string_view statistics, const std::string& topic);

}  // namespace tributary::inline data::kafka
