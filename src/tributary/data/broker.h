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

// Where a broker is: "kafka://host:9092", "mqtt://host:1883". The port may be left out; Kafka takes several places,
// "kafka://a:9092,b:9092".
struct BrokerAddress {
  BrokerKind kind = BrokerKind::kKafka;
  std::string host;  // Of Kafka: all places with their ports, as its library reads them.
  int port = 0;      // Of MQTT.

  friend bool operator==(const BrokerAddress&, const BrokerAddress&) = default;
};

// An address with a user or password in it ("mqtt://me:secret@host") is refused, without repeating it.
StatusOr<BrokerAddress> ParseBrokerAddress(std::string_view text);

// The same again, whole.
std::string FormatBrokerAddress(const BrokerAddress& address);

// What both kinds of broker take as the name of a topic: letters, digits, '.', '_', '-'; MQTT also '/'. At most 249.
Status CheckTopic(BrokerKind kind, std::string_view topic);

// Hands records to a broker, which has each of them at least once when Flush has returned.
//
//   1. Prepare the topics.
//   2. Publish. What is under way is bounded: when the broker does not keep up, or is gone, it takes no more.
//   3. Flush.
//
// For one thread; the sending happens on others.
class Publisher {
 public:
  virtual ~Publisher() = default;

  // Makes the topics that are not there. Fails within some ten seconds if no broker answers.
  virtual Status Prepare(std::span<const std::string> topics) = 0;

  // False when too much is under way: try again a little later. An error is for good.
  virtual StatusOr<bool> Publish(const std::string& topic, ByteSpan record) = 0;

  // Waits until the broker has confirmed everything, or for so long: true if it has.
  virtual StatusOr<bool> Flush(Duration patience) = 0;

  // Records that the broker has confirmed.
  virtual std::int64_t confirmed() const = 0;

  // As of a stream: a sentence when the broker is gone, and one when it is back.
  virtual std::optional<std::string> TakeNews() = 0;
};

// What a program can be told about a broker beside its address, by the names of the broker's own library:
// {"security.protocol", "ssl"} for Kafka. MQTT knows "username", "password", "cafile" (which turns on TLS), "certfile" and
// "keyfile" (the client's certificate), and "insecure", which is "yes" where plain text beyond loopback is intended.
using BrokerSettings = std::vector<std::pair<std::string, std::string>>;

// Whether the value of this setting is a secret: not to be shown, nor to be given on a command line.
bool IsSecretSetting(std::string_view name);

// Refuses what MQTT does not know, and MQTT in plain text beyond loopback without "insecure". For a check at the start; it
// is made again whenever a connection is opened.
Status CheckBrokerSettings(const BrokerAddress& address, const BrokerSettings& settings);

struct BrokerStreamOptions {
  BrokerAddress address;
  std::string topic;
  // Samples that do not fit are undecodable. Without it anything that is a whole record is brought.
  std::optional<SampleFormat> format = {};
  // By which the broker remembers this reader: Kafka's consumer group, MQTT's client. Empty: made from the topic.
  std::string reader = {};
  // MQTT only. Every sample is written here before the broker is told that it has arrived, and stays until it is
  // committed; and the broker keeps what comes while the reader is away. Empty: neither, for just looking.
  std::filesystem::path spool = {};
  Bytes spool_limit{0};  // 0: as much as the disk takes.
  BrokerSettings settings = {};
};

// Streams from brokers run on real time and on threads of their own. A broker that cannot be reached is waited for, and
// so is a topic that is not there yet; the error is one of the options or of the spool.
//
// Kafka: positions are offsets of the topic's only partition. The stream starts at the earliest one kept.
// MQTT: positions are the publisher's sequence numbers. The broker is told at once that a sample has arrived, so the
// spool alone makes it last: a stream with one starts at the first sample that was not committed, and can be sought
// anywhere behind that; after kill -9 it has lost nothing that it wrote there, and counts what is missing.
StatusOr<std::unique_ptr<Stream>> OpenBrokerStream(const BrokerStreamOptions& options);

StatusOr<std::unique_ptr<Publisher>> OpenPublisher(const BrokerAddress& address,
                                                   const BrokerSettings& settings = {});

// What a broker keeps of a topic: positions from `first` up to, not including, `end`.
struct TopicRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

// Nothing for MQTT, whose brokers keep only what is still to be delivered. NotFound if there is no such topic,
// Unavailable if the broker does not answer in time.
StatusOr<std::optional<TopicRange>> QueryTopic(const BrokerStreamOptions& options, Duration patience);

// What these do for each kind, in the files of its library.
//
// Kafka: topics are made with one partition. Records keep their order and are written once, also when the broker is
// restarted in between.
StatusOr<std::unique_ptr<Publisher>> OpenKafkaPublisher(const BrokerAddress& address,
                                                        const BrokerSettings& settings);
StatusOr<std::unique_ptr<Stream>> OpenKafkaStream(const BrokerStreamOptions& options);
StatusOr<TopicRange> QueryKafkaTopic(const BrokerStreamOptions& options, Duration patience);
// MQTT, version 3.1.1, quality of service 1. What was under way when a connection broke is sent again; readers drop
// what they have already.
StatusOr<std::unique_ptr<Publisher>> OpenMqttPublisher(const BrokerAddress& address,
                                                       const BrokerSettings& settings);
StatusOr<std::unique_ptr<Stream>> OpenMqttStream(const BrokerStreamOptions& options);

}  // namespace tributary::inline data
