#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tributary/data/broker_address.h"
#include "tributary/data/publisher.h"
#include "tributary/data/sample_format.h"
#include "tributary/data/stream.h"

namespace tributary {

// What a program can be told about a broker beside its address, by the names of the broker's own library:
// {"security.protocol", "ssl"} for Kafka. MQTT knows "username", "password" and "cafile" (which turns on TLS).
using BrokerSettings = std::vector<std::pair<std::string, std::string>>;

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

}  // namespace tributary
