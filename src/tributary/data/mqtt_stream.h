#pragma once

#include <memory>

#include "tributary/data/broker.h"

namespace tributary {

// OpenBrokerStream for MQTT, version 3.1.1, quality of service 1.
StatusOr<std::unique_ptr<Stream>> OpenMqttStream(const BrokerStreamOptions& options);

}  // namespace tributary
