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

struct PublishArguments {
  std::string to;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string topic_prefix = "tributary-";
  DataOptions data;
  SplitOptions split;
  std::vector<std::string> rates;
  // Instead of rates: one topic per source of recordings, whose samples are sent at their recorded times,
  // sped up by this factor. 0: off.
  double recorded_speed = 0;
  std::string programme;
  std::int64_t samples = 0;  // per device; 0: its part of the data once
  std::optional<std::int64_t> first_sequence;
  bool json = false;
  bool quiet = false;
};
Status PublishStreams(const PublishArguments& arguments);

// Parses NAME=VALUE. The value of a secret must be @FILE, readable by its owner only: all users of a machine
// can read its command lines.
StatusOr<BrokerSettings> ParseBrokerSettings(const std::vector<std::string>& texts);

}  // namespace tributary::inline cli
