#include "tributary/data/kafka_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/data/kafka_client.h"
#include "tributary/data/record.h"
#include "tributary/data/stream_status.h"

namespace tributary {
namespace {

using kafka::At;
using kafka::Owned;

// Partition 0 is assigned by hand, with the offset: no group decides who reads what, and the group is only the name
// under which commits are kept.
BrokerSettings ReaderSettings(const BrokerStreamOptions& options) {
  return {{"group.id", options.reader.empty() ? "tributary-" + options.topic : options.reader},
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "earliest"},
          // What is fetched ahead; the rest stays with the broker.
          {"queued.max.messages.kbytes", "16384"},
          {"fetch.error.backoff.ms", "200"},
          // How soon a topic that is not there yet is found.
          {"topic.metadata.refresh.interval.ms", "2000"},
          // Of it the state is read.
          {"statistics.interval.ms", "1000"}};
}

class KafkaStream : public Stream {
 public:
  explicit KafkaStream(const BrokerStreamOptions& options)
      : options_(options),
        address_(FormatBrokerAddress(options.address)),
        status_("topic " + options.topic, {StreamPhase::kWaiting, "connecting to " + address_}) {}
  ~KafkaStream() override { Close(); }

  Status Open() {
    TRIBUTARY_ASSIGN_OR_RETURN(
        auto settings, kafka::MakeSettings(options_.address, ReaderSettings(options_), options_.settings));
    rd_kafka_conf_set_opaque(settings.get(), this);
    rd_kafka_conf_set_error_cb(
        settings.get(), [](rd_kafka_t* client, int error, const char* reason, void* self) {
          static_cast<KafkaStream*>(self)->OnError(client, static_cast<rd_kafka_resp_err_t>(error), reason);
        });
    rd_kafka_conf_set_stats_cb(settings.get(), [](rd_kafka_t*, char* text, std::size_t size, void* self) {
      static_cast<KafkaStream*>(self)->OnStatistics({text, size});
      return 0;
    });
    TRIBUTARY_ASSIGN_OR_RETURN(client_, kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(settings)));
    // Callbacks come with consumer_poll, on the caller's thread.
    rd_kafka_poll_set_consumer(client_);
    return Assign(RD_KAFKA_OFFSET_BEGINNING);
  }

  void Poll(TimePoint, const PollLimits& limits, std::vector<StreamSample>& out) override {
    if (client_ == nullptr) return;
    Bytes bytes{0};
    auto wait = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(limits.wait).count());
    for (std::size_t taken = 0; taken < limits.samples && bytes < limits.bytes;) {
      const Owned<rd_kafka_message_t> message(rd_kafka_consumer_poll(client_, wait));
      wait = 0;
      if (!message) return;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        OnMessageError(*message);
        continue;
      }
      if (auto sample = Read(*message)) {
        bytes += sample->bytes();
        out.push_back(std::move(*sample));
        ++taken;
      }
    }
  }

  Status Seek(std::int64_t position) override {
    if (position < 0) return InvalidArgument("offsets count from 0, asked for " + std::to_string(position));
    if (client_ == nullptr) return Unavailable("topic " + options_.topic + " was closed");
    expected_ = position;
    return Assign(position);
  }

  void Commit(std::int64_t position) override {
    if (client_ == nullptr || position < 0) return;
    (void)rd_kafka_commit(client_, At(options_.topic, position + 1).get(), /*async=*/1);
  }

  StreamState state() const override { return status_.state(); }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }
  StreamCounts counts() const override { return counts_; }

  void Close() override {
    if (client_ == nullptr) return;
    // Closing waits for commits to be confirmed, which a broker that is gone never does.
    const bool reachable = status_.state().phase == StreamPhase::kConnected;
    if (reachable) rd_kafka_consumer_close(client_);
    rd_kafka_destroy_flags(client_, reachable ? 0 : RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    client_ = nullptr;
    status_.Set(StreamPhase::kStopped, "closed");
  }

 private:
  Status Assign(std::int64_t offset) {
    const rd_kafka_resp_err_t error = rd_kafka_assign(client_, At(options_.topic, offset).get());
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return OkStatus();
    return Unavailable("topic " + options_.topic + " cannot be read: " + rd_kafka_err2str(error));
  }

  std::optional<StreamSample> Read(const rd_kafka_message_t& message) {
    status_.Set(StreamPhase::kConnected, "connected to " + address_);
    // A topic that was made anew begins at 0 again: nothing of it is used until it has passed what was used before.
    if (message.offset < expected_.value_or(0)) {
      ++counts_.duplicates;
      return std::nullopt;
    }
    counts_.missing += message.offset - expected_.value_or(message.offset);
    expected_ = message.offset + 1;
    auto record = DecodeRecord({static_cast<const std::byte*>(message.payload), message.len});
    if (!record.ok() || (options_.format && !CheckFits(*options_.format, record->sample).ok())) {
      ++counts_.undecodable;
      return std::nullopt;
    }
    record->sample.position = message.offset;
    ++counts_.delivered;
    return std::move(record->sample);
  }

  void OnError(rd_kafka_t* client, rd_kafka_resp_err_t error, const char* reason) {
    if (error == RD_KAFKA_RESP_ERR__FATAL) {
      std::array<char, 512> why{};
      rd_kafka_fatal_error(client, why.data(), why.size());
      status_.Set(StreamPhase::kStopped, std::string("given up: ") + why.data());
    } else if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || error == RD_KAFKA_RESP_ERR__AUTHENTICATION) {
      status_.Set(StreamPhase::kWaiting, "cannot reach " + address_ + ", trying again: " + reason);
    }
  }

  void OnMessageError(const rd_kafka_message_t& message) {
    if (kafka::IsOutOfReach(message.err)) return;  // OnError hears of it when it is true of all brokers.
    status_.Set(StreamPhase::kWaiting, std::string("waiting: ") + rd_kafka_message_errstr(&message));
  }

  // Connected is who has a connection to the partition's leader, also where nothing comes.
  void OnStatistics(std::string_view text) {
    const auto all = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!all.is_object()) return;
    const auto partition = nlohmann::json::json_pointer("/partitions/0/leader");
    const auto topics = all.find("topics");
    if (topics == all.end() || !topics->contains(options_.topic)) return;
    const auto& topic = (*topics)[options_.topic];
    if (!topic.contains(partition)) return;
    const auto leader = topic[partition];
    if (leader == -1) return;
    for (const auto& broker : all.value("brokers", nlohmann::json::object())) {
      if (broker.value("nodeid", -1) == leader && broker.value("state", "") == "UP") {
        status_.Set(StreamPhase::kConnected, "connected to " + address_);
      }
    }
  }

  const BrokerStreamOptions options_;
  const std::string address_;
  StreamStatus status_;
  rd_kafka_t* client_ = nullptr;
  std::optional<std::int64_t> expected_;  // Offset that comes next, once one is known.
  StreamCounts counts_;
};

}  // namespace

StatusOr<std::unique_ptr<Stream>> OpenKafkaStream(const BrokerStreamOptions& options) {
  auto stream = std::make_unique<KafkaStream>(options);
  TRIBUTARY_RETURN_IF_ERROR(stream->Open());
  return std::unique_ptr<Stream>(std::move(stream));
}

StatusOr<TopicRange> QueryKafkaTopic(const BrokerStreamOptions& options, Duration patience) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto settings,
                             kafka::MakeSettings(options.address, ReaderSettings(options), options.settings));
  TRIBUTARY_ASSIGN_OR_RETURN(rd_kafka_t* const client,
                             kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(settings)));
  TopicRange range;
  const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
      client, options.topic.c_str(), 0, &range.first, &range.end,
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count()));
  rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  const std::string address = FormatBrokerAddress(options.address);
  switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      return range;
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return NotFound("there is no topic '" + options.topic + "' at " + address);
    default:
      return Unavailable("cannot ask " + address + " for topic '" + options.topic +
                         "': " + rd_kafka_err2str(error));
  }
}

}  // namespace tributary
