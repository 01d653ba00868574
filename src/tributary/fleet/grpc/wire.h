#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline rpc {

// Messages to and from the fields of a frame (frame.h). Parsing takes any bytes: numbers that are not finite, outside
// what a field can mean, missing or unknown choices and overlong texts are refused in words.

std::string Format(const FromDevice& message);
std::string Format(const ToDevice& message);

StatusOr<FromDevice> ParseFromDevice(std::string_view fields);
StatusOr<ToDevice> ParseToDevice(std::string_view fields);

}  // namespace tributary::inline rpc
