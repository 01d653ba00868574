#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/data/record.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

enum class BrokerKind { kKafka, kMqtt };

// Address of a broker: "kafka://host:9092", "mqtt://host:1883". The port is optional; Kafka accepts several
// hosts, "kafka://a:9092,b:9092".
struct BrokerAddress {
  BrokerKind kind = BrokerKind::kKafka;
  std::string host;  // Kafka: all hosts with their ports, in the syntax of its library
  int port = 0;      // MQTT only

  friend bool operator==(const BrokerAddress&, const BrokerAddress&) = default;
};

// Fails for an address with a user or password ("mqtt://me:secret@host"); the message does not contain it.
StatusOr<BrokerAddress> ParseBrokerAddress(std::string_view text);

// The same in complete form.
std::string FormatBrokerAddress(const BrokerAddress& address);

// Valid topic names: up to 249 letters, digits, '.', '_', '-'; for MQTT also '/'.
Status CheckTopic(BrokerKind kind, std::string_view topic);

// Sends records to a broker, which has received each at least once when Flush returns true.
//
//   1. Prepare the topics.
//   2. Publish. Returns false while too many records are unconfirmed, if the broker is slow or unreachable.
//   3. Flush.
//
// Not thread-safe; other threads do the sending.
class Publisher {
 public:
  virtual ~Publisher() = default;

  // Creates missing topics. Fails within about ten seconds if no broker answers.
  virtual Status Prepare(std::span<const std::string> topics) = 0;

  // False if too many records are unconfirmed: retry later. Errors are permanent.
  virtual StatusOr<bool> Publish(const std::string& topic, ByteSpan record) = 0;

  // Waits until the broker has confirmed all records, at most for `patience`; true on success.
  virtual StatusOr<bool> Flush(Duration patience) = 0;

  // Number of confirmed records.
  virtual std::int64_t confirmed() const = 0;

  // As in Stream: one sentence when the broker becomes unreachable, and one when it is back.
  virtual std::optional<std::string> TakeNews() = 0;
};

// Settings of a broker besides the address, with the names of the broker's library: {"security.protocol",
// "ssl"} for Kafka. MQTT has "username", "password", "cafile" (which enables TLS), "certfile" and "keyfile"
// (the client's certificate), and "insecure" ("yes" allows plain text beyond loopback).
using BrokerSettings = std::vector<std::pair<std::string, std::string>>;

// Whether the value of this setting is a secret, which messages and command lines must not contain.
bool IsSecretSetting(std::string_view name);

// Fails for unknown settings of MQTT, and for plain text MQTT beyond loopback without "insecure". For a check
// at the start; opening a connection checks again.
Status CheckBrokerSettings(const BrokerAddress& address, const BrokerSettings& settings);

struct BrokerStreamOptions {
  BrokerAddress address;
  std::string topic;
  // Samples of another format are undecodable. Without a format any complete record is accepted.
  std::optional<SampleFormat> format = {};
  // The reader's name at the broker: Kafka's consumer group, MQTT's client. Empty: derived from the topic.
  std::string reader = {};
  // MQTT only. Every sample is stored here before it is confirmed to the broker, until it is committed, and
  // the broker keeps samples while the reader is away. Empty: neither, for a reader that only watches.
  std::filesystem::path spool = {};
  Bytes spool_limit{0};  // 0: limited by the disk only
  BrokerSettings settings = {};
};

// Broker streams use real time and separate threads. They wait for an unreachable broker or a missing topic;
// errors concern only the options or the spool.
//
// Kafka: positions are offsets of the topic's only partition. The stream starts at the earliest available
// offset. MQTT: positions are the publisher's sequence numbers. Samples are confirmed on arrival, so only a
// spool makes them durable. A stream with a spool starts at the first uncommitted sample, can seek to any
// later position, keeps the spool's samples on kill -9, and counts missing ones.
StatusOr<std::unique_ptr<Stream>> OpenBrokerStream(const BrokerStreamOptions& options);

StatusOr<std::unique_ptr<Publisher>> OpenPublisher(const BrokerAddress& address,
                                                   const BrokerSettings& settings = {});

// Positions of a topic that a broker stores: from `first` to `end`, exclusive.
struct TopicRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

// nullopt for MQTT, whose brokers only keep undelivered messages. NotFound if the topic does not exist,
// Unavailable if the broker does not answer in time.
StatusOr<std::optional<TopicRange>> QueryTopic(const BrokerStreamOptions& options, Duration patience);

// Implementations per broker, in the files of its library.
//
// Kafka: topics are created with one partition. Records keep their order and are written exactly once, even
// if the broker is restarted.
StatusOr<std::unique_ptr<Publisher>> OpenKafkaPublisher(const BrokerAddress& address,
                                                        const BrokerSettings& settings);
StatusOr<std::unique_ptr<Stream>> OpenKafkaStream(const BrokerStreamOptions& options);
StatusOr<TopicRange> QueryKafkaTopic(const BrokerStreamOptions& options, Duration patience);
// MQTT 3.1.1, QoS 1. Unconfirmed records are sent again after a reconnection; readers drop duplicates.
StatusOr<std::unique_ptr<Publisher>> OpenMqttPublisher(const BrokerAddress& address,
                                                       const BrokerSettings& settings);
StatusOr<std::unique_ptr<Stream>> OpenMqttStream(const BrokerStreamOptions& options);

}  // namespace tributary::inline data
