#pragma once

#include <memory>

#include "tributary/data/broker.h"

namespace tributary {

// OpenPublisher for MQTT, quality of service 1. What was under way when a connection broke is sent again; readers drop
// what they have already.
StatusOr<std::unique_ptr<Publisher>> OpenMqttPublisher(const BrokerAddress& address,
                                                       const BrokerSettings& settings);

}  // namespace tributary
