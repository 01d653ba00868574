#pragma once

#include <memory>

#include "tributary/data/broker.h"

namespace tributary {

// OpenPublisher for Kafka. Topics are made with one partition. Records keep their order and are written once, also when
// the broker is restarted in between.
StatusOr<std::unique_ptr<Publisher>> OpenKafkaPublisher(const BrokerAddress& address,
                                                        const BrokerSettings& settings);

}  // namespace tributary
