#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tributary/base/status.h"

namespace tributary {

// What 'tributary stream inspect' was asked for.
struct InspectArguments {
  std::string from;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string topic;
  std::int64_t position = 0;
  std::string listen = "5s";
  bool json = false;
};
Status InspectStream(const InspectArguments& arguments);

}  // namespace tributary
