#include <fmt/format.h>

#include <array>

#include "tributary/data/kafka.h"
#include "tributary/data/record.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {
namespace {

using kafka::At;
using kafka::Owned;

// Partition 0 is assigned manually with the offset; the consumer group only names the stored commits.
BrokerSettings ReaderSettings(const BrokerStreamOptions& options) {
  return {{"group.id", options.reader.empty() ? "tributary-" + options.topic : options.reader},
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "earliest"},
          // Limits prefetching; the rest stays at the broker.
          {"queued.max.messages.kbytes", "16384"},
          {"fetch.error.backoff.ms", "200"},
          // How soon a new topic is found.
          {"topic.metadata.refresh.interval.ms", "2000"}};
}

constexpr int kMostSilent = 10;  // five seconds

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
    // consumer_poll runs the callbacks on the caller's thread.
    rd_kafka_poll_set_consumer(client_);
    return OkStatus();
  }

  void Poll(TimePoint, const PollLimits& limits, std::vector<StreamSample>& out) override {
    if (client_ == nullptr) return;
    // Assigned here, so that a stream that is sought first is assigned once.
    if (!assigned_) (void)Assign();
    Bytes bytes{0};
    auto wait = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(limits.wait).count());
    // Undecodable messages count too, so that a topic full of them does not block the caller.
    for (std::size_t seen = 0; seen < limits.samples && bytes < limits.bytes; ++seen) {
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
      }
    }
  }

  Status Seek(std::int64_t position) override {
    if (position < 0) return InvalidArgument("offsets count from 0, asked for " + std::to_string(position));
    if (client_ == nullptr) return Unavailable("topic " + options_.topic + " was closed");
    expected_ = position;
    return Assign();
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
    // Closing waits for the confirmation of commits, which an unreachable broker never sends.
    const bool reachable = status_.state().phase == StreamPhase::kConnected;
    if (reachable) rd_kafka_consumer_close(client_);
    rd_kafka_destroy_flags(client_, reachable ? 0 : RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    client_ = nullptr;
    status_.Set(StreamPhase::kStopped, "closed");
  }

 private:
  Status Assign() {
    silent_ = 0;
    const std::int64_t offset = expected_.value_or(RD_KAFKA_OFFSET_BEGINNING);
    const rd_kafka_resp_err_t error = rd_kafka_assign(client_, At(options_.topic, offset).get());
    assigned_ = error == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (assigned_) return OkStatus();
    return Unavailable("topic " + options_.topic + " cannot be read: " + rd_kafka_err2str(error));
  }

  std::optional<StreamSample> Read(const rd_kafka_message_t& message) {
    topic_error_.clear();
    silent_ = 0;
    // A recreated topic starts at 0 again: its messages are dropped up to the position reached before.
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
    }
    broker_error_ = reason;
  }

  // Errors of the topic: it does not exist, or reading is not permitted. OnError receives those of brokers.
  void OnMessageError(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
        message.err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
      topic_error_ = rd_kafka_err2str(message.err);
      status_.Set(StreamPhase::kWaiting, "waiting for " + address_ + ": " + topic_error_);
    }
  }

  // Connected means a connection to the partition's leader, even if no messages come.
  void OnStatistics(std::string_view text) {
    const kafka::PartitionState partition = kafka::StateOf(text, options_.topic);
    if (partition.leader_is_up) {
      broker_error_.clear();
      if (topic_error_.empty()) status_.Set(StreamPhase::kConnected, "connected to " + address_);
      // The library sometimes stops fetching silently; assigning the same offset again is harmless.
      silent_ = partition.behind ? silent_ + 1 : 0;
      if (silent_ >= kMostSilent) (void)Assign();
    } else if (!broker_error_.empty()) {
      status_.Set(StreamPhase::kWaiting, "cannot reach " + address_ + ", trying again: " + broker_error_);
    }
  }

  const BrokerStreamOptions options_;
  const std::string address_;
  StreamStatus status_;
  rd_kafka_t* client_ = nullptr;
  std::optional<std::int64_t> expected_;  // next expected offset, if known
  StreamCounts counts_;
  std::string broker_error_;  // the last error since a connection was seen
  std::string topic_error_;
  bool assigned_ = false;
  int silent_ = 0;  // statistics in a row that showed unfetched messages
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
      return NotFound(fmt::format("there is no topic '{}' at {}", options.topic, address));
    default:
      return Unavailable(
          fmt::format("cannot ask {} for topic '{}': {}", address, options.topic, rd_kafka_err2str(error)));
  }
}

}  // namespace tributary::inline data
