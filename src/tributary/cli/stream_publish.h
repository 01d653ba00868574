#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/broker.h"
#include "tributary/data/load.h"
#include "tributary/policy/partitioning/split.h"

namespace tributary::inline cli {

// What 'tributary stream publish' was asked for.
struct PublishArguments {
  std::string to;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string topic_prefix = "tributary-";
  DataOptions data;
  SplitOptions split;
  std::vector<std::string> rates;
  // Instead of rates: a topic for each source of recordings, whose samples are sent when they were recorded, so many
  // times faster. 0: not.
  double recorded_speed = 0;
  std::string programme;
  std::int64_t samples = 0;  // Per device; 0: its part of the data once.
  std::optional<std::int64_t> first_sequence;
  bool json = false;
  bool quiet = false;
};
Status PublishStreams(const PublishArguments& arguments);

// NAME=VALUE, each; the value of a secret is @FILE, which only its owner can read. A secret itself is refused: every user
// of the machine can read command lines.
StatusOr<BrokerSettings> ParseBrokerSettings(const std::vector<std::string>& texts);

}  // namespace tributary::inline cli
