#include "tributary/data/kafka_client.h"

#include <array>

namespace tributary::kafka {

Owned<rd_kafka_topic_partition_list_t> At(const std::string& topic, std::int64_t offset) {
  Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = offset;
  return list;
}

StatusOr<Owned<rd_kafka_conf_t>> MakeSettings(const BrokerAddress& address, const BrokerSettings& own,
                                              const BrokerSettings& user) {
  Owned<rd_kafka_conf_t> settings(rd_kafka_conf_new());
  // States are told by the streams; the library's own lines would come with every attempt.
  rd_kafka_conf_set_log_cb(settings.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  BrokerSettings all = {{"bootstrap.servers", address.host},
                        {"client.id", "tributary"},
                        {"reconnect.backoff.ms", "100"},
                        {"reconnect.backoff.max.ms", "2000"}};
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), user.begin(), user.end());
  std::array<char, 512> why{};
  for (const auto& [name, value] : all) {
    if (rd_kafka_conf_set(settings.get(), name.c_str(), value.c_str(), why.data(), why.size()) !=
        RD_KAFKA_CONF_OK) {
      return InvalidArgument("Kafka's library does not take '" + name + "=" + value + "': " + why.data());
    }
  }
  return settings;
}

StatusOr<rd_kafka_t*> MakeClient(rd_kafka_type_t type, Owned<rd_kafka_conf_t> settings) {
  std::array<char, 512> why{};
  rd_kafka_t* client = rd_kafka_new(type, settings.get(), why.data(), why.size());
  if (client == nullptr)
    return InvalidArgument(std::string("Kafka's library refuses its settings: ") + why.data());
  (void)settings.release();  // The client owns them now.
  return client;
}

bool IsOutOfReach(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
      return true;
    default:
      return false;
  }
}

}  // namespace tributary::kafka
