#include "tributary/data/kafka_client.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace tributary::kafka {

Owned<rd_kafka_topic_partition_list_t> At(const std::string& topic, std::int64_t offset) {
  Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = offset;
  return list;
}

StatusOr<Owned<rd_kafka_conf_t>> MakeSettings(const BrokerAddress& address, const BrokerSettings& own,
                                              const BrokerSettings& user) {
  Owned<rd_kafka_conf_t> settings(rd_kafka_conf_new());
  // States are told by the streams; the library's own lines would come with every attempt. Who asks for them gets them.
  if (std::ranges::none_of(user, [](const auto& setting) { return setting.first == "debug"; })) {
    rd_kafka_conf_set_log_cb(settings.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  }
  BrokerSettings all = {{"bootstrap.servers", address.host},
                        {"client.id", "tributary"},
                        {"reconnect.backoff.ms", "100"},
                        {"reconnect.backoff.max.ms", "2000"},
                        {"statistics.interval.ms", kStatisticsMs}};
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

bool AnyBrokerIsUp(std::string_view statistics) {
  const auto all = nlohmann::json::parse(statistics, nullptr, /*allow_exceptions=*/false);
  const auto brokers = all.is_object() ? all.find("brokers") : all.end();
  return brokers != all.end() &&
         std::any_of(brokers->begin(), brokers->end(), [](const nlohmann::json& broker) {
           return broker.value("nodeid", -1) >= 0 && broker.value("state", "") == "UP";
         });
}

PartitionState StateOf(std::string_view statistics, const std::string& topic) {
  const auto all = nlohmann::json::parse(statistics, nullptr, /*allow_exceptions=*/false);
  const auto path = nlohmann::json::json_pointer("/topics") / topic / "partitions" / "0";
  if (!all.is_object() || !all.contains(path) || !all.contains("brokers")) return {};
  const auto& partition = all[path];
  const int leader = partition.value("leader", -1);
  PartitionState state;
  state.leader_is_up =
      std::any_of(all["brokers"].begin(), all["brokers"].end(), [&](const nlohmann::json& broker) {
        return leader >= 0 && broker.value("nodeid", -1) == leader && broker.value("state", "") == "UP";
      });
  state.behind = partition.value("fetch_state", "") != "active" ||
                 partition.value("hi_offset", std::int64_t{-1}) < 0 ||
                 partition.value("consumer_lag", std::int64_t{-1}) > 0;
  return state;
}

}  // namespace tributary::kafka
