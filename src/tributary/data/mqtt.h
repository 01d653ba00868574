#pragma once

#include <mosquitto.h>

#include <memory>
#include <string>

#include "tributary/data/broker.h"

namespace tributary::inline data {

namespace mqtt {

struct Destroy {
  void operator()(mosquitto* client) const { mosquitto_destroy(client); }
};
using Client = std::unique_ptr<mosquitto, Destroy>;

// A client that is not connected yet, with the user's settings. `owner` is handed to its callbacks. An empty name lets
// the broker choose one.
StatusOr<Client> MakeClient(const std::string& name, bool clean_session, const BrokerSettings& settings,
                            void* owner);

// The library's word for a failed call; the system's where it says to look there.
std::string ReasonOf(int code);

// The connection is probed after so much silence, and taken for broken after half as much again.
inline constexpr int kKeepAliveSeconds = 15;

}  // namespace mqtt

// OpenPublisher for MQTT, quality of service 1. What was under way when a connection broke is sent again; readers drop
// what they have already.
StatusOr<std::unique_ptr<Publisher>> OpenMqttPublisher(const BrokerAddress& address,
                                                       const BrokerSettings& settings);

// OpenBrokerStream for MQTT, version 3.1.1, quality of service 1.
StatusOr<std::unique_ptr<Stream>> OpenMqttStream(const BrokerStreamOptions& options);

}  // namespace tributary::inline data
