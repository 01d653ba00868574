#pragma once

#include <memory>

#include "tributary/data/broker.h"

namespace tributary {

// OpenBrokerStream and QueryTopic for Kafka.
StatusOr<std::unique_ptr<Stream>> OpenKafkaStream(const BrokerStreamOptions& options);
StatusOr<TopicRange> QueryKafkaTopic(const BrokerStreamOptions& options, Duration patience);

}  // namespace tributary
