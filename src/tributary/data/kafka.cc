#include "tributary/data/kafka.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "tributary/data/stream.h"

namespace tributary::inline data {
namespace kafka {

Owned<rd_kafka_topic_partition_list_t> At(const std::string& topic, std::int64_t offset) {
  Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = offset;
  return list;
}

StatusOr<Owned<rd_kafka_conf_t>> MakeSettings(const BrokerAddress& address, const BrokerSettings& own,
                                              const BrokerSettings& user) {
  Owned<rd_kafka_conf_t> settings(rd_kafka_conf_new());
  // The streams report their state; the library would log every attempt. With "debug" it logs.
  if (std::ranges::none_of(user, [](const auto& setting) { return setting.first == "debug"; }))
    rd_kafka_conf_set_log_cb(settings.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  BrokerSettings all = {{"bootstrap.servers", address.host},
                        {"client.id", "tributary"},
                        {"reconnect.backoff.ms", "100"},
                        {"reconnect.backoff.max.ms", "2000"},
                        {"statistics.interval.ms", "500"}};
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), user.begin(), user.end());
  std::array<char, 512> why{};
  for (const auto& [name, value] : all) {
    if (rd_kafka_conf_set(settings.get(), name.c_str(), value.c_str(), why.data(), why.size()) !=
        RD_KAFKA_CONF_OK)
      return InvalidArgument("Kafka's library does not take '" + name +
                             (IsSecretSetting(name) ? "'" : "=" + value + "': " + why.data()));
  }
  return settings;
}

StatusOr<rd_kafka_t*> MakeClient(rd_kafka_type_t type, Owned<rd_kafka_conf_t> settings) {
  std::array<char, 512> why{};
  rd_kafka_t* client = rd_kafka_new(type, settings.get(), why.data(), why.size());
  if (client == nullptr)
    return InvalidArgument(std::string("Kafka's library refuses its settings: ") + why.data());
  (void)settings.release();  // The client owns them.
  return client;
}

namespace {

bool AnyIsUp(const nlohmann::json& brokers, const std::function<bool(int)>& wanted) {
  return std::any_of(brokers.begin(), brokers.end(), [&](const nlohmann::json& broker) {
    return wanted(broker.value("nodeid", -1)) && broker.value("state", "") == "UP";
  });
}

}  // namespace

bool AnyBrokerIsUp(std::string_view statistics) {
  const auto all = nlohmann::json::parse(statistics, nullptr, /*allow_exceptions=*/false);
  return all.is_object() && all.contains("brokers") &&
         AnyIsUp(all["brokers"], [](int id) { return id >= 0; });
}

PartitionState StateOf(std::string_view statistics, const std::string& topic) {
  const auto all = nlohmann::json::parse(statistics, nullptr, /*allow_exceptions=*/false);
  const auto path = nlohmann::json::json_pointer("/topics") / topic / "partitions" / "0";
  if (!all.is_object() || !all.contains(path) || !all.contains("brokers")) return {};
  const auto& partition = all[path];
  const int leader = partition.value("leader", -1);
  return {.leader_is_up = AnyIsUp(all["brokers"], [&](int id) { return id >= 0 && id == leader; }),
          .behind = partition.value("fetch_state", "") != "active" ||
                    partition.value("hi_offset", std::int64_t{-1}) < 0 ||
                    partition.value("consumer_lag", std::int64_t{-1}) > 0};
}

}  // namespace kafka

namespace {

using kafka::Owned;

constexpr int kPrepareMs = 10'000;

class KafkaPublisher : public Publisher {
 public:
  explicit KafkaPublisher(const BrokerAddress& address)
      : address_(FormatBrokerAddress(address)), status_(address_, {StreamPhase::kConnected, "connected"}) {}
  ~KafkaPublisher() override {
    if (client_ == nullptr) return;
    // Otherwise destroying waits for undelivered records.
    rd_kafka_purge(client_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_destroy(client_);
  }

  Status Open(const BrokerAddress& address, const BrokerSettings& user) {
    const BrokerSettings own = {{"enable.idempotence", "true"},
                                {"linger.ms", "5"},
                                // Bounds the records in flight; each is retried without a time limit.
                                {"queue.buffering.max.messages", "10000"},
                                {"queue.buffering.max.kbytes", "65536"},
                                {"message.timeout.ms", "0"}};
    TRIBUTARY_ASSIGN_OR_RETURN(auto settings, kafka::MakeSettings(address, own, user));
    rd_kafka_conf_set_opaque(settings.get(), this);
    rd_kafka_conf_set_dr_msg_cb(settings.get(),
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
                                  static_cast<KafkaPublisher*>(self)->OnDelivery(*message);
                                });
    rd_kafka_conf_set_error_cb(settings.get(), [](rd_kafka_t*, int error, const char* reason, void* self) {
      static_cast<KafkaPublisher*>(self)->OnError(static_cast<rd_kafka_resp_err_t>(error), reason);
    });
    rd_kafka_conf_set_stats_cb(settings.get(), [](rd_kafka_t*, char* text, std::size_t size, void* self) {
      static_cast<KafkaPublisher*>(self)->OnStatistics({text, size});
      return 0;
    });
    TRIBUTARY_ASSIGN_OR_RETURN(client_, kafka::MakeClient(RD_KAFKA_PRODUCER, std::move(settings)));
    return OkStatus();
  }

  Status Prepare(std::span<const std::string> topics) override {
    std::array<char, 512> why{};
    std::vector<Owned<rd_kafka_NewTopic_t>> wanted;
    std::vector<rd_kafka_NewTopic_t*> pointers;
    for (const std::string& topic : topics) {
      // −1: the broker's default replication factor.
      wanted.emplace_back(rd_kafka_NewTopic_new(topic.c_str(), 1, -1, why.data(), why.size()));
      if (!wanted.back()) return InvalidArgument("'" + topic + "' cannot be a topic: " + why.data());
      pointers.push_back(wanted.back().get());
    }
    const Owned<rd_kafka_AdminOptions_t> options(
        rd_kafka_AdminOptions_new(client_, RD_KAFKA_ADMIN_OP_CREATETOPICS));
    for (const auto set :
         {rd_kafka_AdminOptions_set_request_timeout, rd_kafka_AdminOptions_set_operation_timeout})
      (void)set(options.get(), kPrepareMs, why.data(), why.size());
    const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client_));
    rd_kafka_CreateTopics(client_, pointers.data(), pointers.size(), options.get(), queue.get());
    const Owned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue.get(), 2 * kPrepareMs));
    if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Unavailable(fmt::format("cannot make topics at {}: {}; is the broker there?", address_,
                                     event ? rd_kafka_event_error_string(event.get()) : "no answer"));
    }
    const rd_kafka_CreateTopics_result_t* result = rd_kafka_event_CreateTopics_result(event.get());
    std::size_t count = 0;
    const rd_kafka_topic_result_t** made = rd_kafka_CreateTopics_result_topics(result, &count);
    for (std::size_t i = 0; i < count; ++i) {
      const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(made[i]);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
      return IoError(fmt::format("cannot make topic '{}' at {}: {}", rd_kafka_topic_result_name(made[i]),
                                 address_, rd_kafka_topic_result_error_string(made[i])));
    }
    return OkStatus();
  }

  StatusOr<bool> Publish(const std::string& topic, ByteSpan record) override {
    rd_kafka_poll(client_, 0);
    if (!failure_.ok()) return failure_;
    // The library copies the bytes although its interface takes them as non-const.
    auto* bytes = const_cast<std::byte*>(record.data());
    std::array<rd_kafka_vu_t, 4> parts{};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = topic.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    parts[1].u.i32 = 0;
    parts[2].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[2].u.mem = {bytes, record.size()};
    parts[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[3].u.i = RD_KAFKA_MSG_F_COPY;
    const Owned<rd_kafka_error_t> failed(rd_kafka_produceva(client_, parts.data(), parts.size()));
    const rd_kafka_resp_err_t error = failed ? rd_kafka_error_code(failed.get()) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
    return IoError("cannot publish to '" + topic + "': " + rd_kafka_err2str(error));
  }

  StatusOr<bool> Flush(Duration patience) override {
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    const bool all = rd_kafka_flush(client_, static_cast<int>(limit)) == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!failure_.ok()) return failure_;
    if (all) status_.Set(StreamPhase::kConnected, "there again");
    return all;
  }

  std::int64_t confirmed() const override { return confirmed_; }
  std::optional<std::string> TakeNews() override {
    rd_kafka_poll(client_, 0);
    return status_.TakeNews();
  }

 private:
  void OnDelivery(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++confirmed_;
    } else if (failure_.ok() && message.err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
               message.err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
      failure_ = IoError(fmt::format("the broker did not take a record of topic '{}': {}",
                                     rd_kafka_topic_name(message.rkt), rd_kafka_err2str(message.err)));
    }
  }

  void OnError(rd_kafka_resp_err_t error, const char* reason) {
    if (error == RD_KAFKA_RESP_ERR__FATAL)
      failure_ = IoError(std::string("the producer has failed: ") + reason);
    error_ = reason;
  }

  void OnStatistics(std::string_view text) {
    if (kafka::AnyBrokerIsUp(text)) {
      error_.clear();
      status_.Set(StreamPhase::kConnected, "there again");
    } else if (!error_.empty()) {
      status_.Set(StreamPhase::kWaiting, "out of reach, trying again: " + error_);
    }
  }

  const std::string address_;
  StreamStatus status_;
  rd_kafka_t* client_ = nullptr;
  Status failure_;
  std::string error_;  // the last error since a connection was seen
  std::int64_t confirmed_ = 0;
};

}  // namespace

StatusOr<std::unique_ptr<Publisher>> OpenKafkaPublisher(const BrokerAddress& address,
                                                        const BrokerSettings& settings) {
  auto publisher = std::make_unique<KafkaPublisher>(address);
  TRIBUTARY_RETURN_IF_ERROR(publisher->Open(address, settings));
  return std::unique_ptr<Publisher>(std::move(publisher));
}

}  // namespace tributary::inline data
