#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline rpc {

// Messages to and from the fields of a frame (frame.h). Parsing accepts any bytes. It refuses non-finite and
// out-of-range numbers, missing or unknown choices and overlong texts, with a reason.

std::string Format(const FromDevice& message);
std::string Format(const ToDevice& message);

StatusOr<FromDevice> ParseFromDevice(std::string_view fields);
StatusOr<ToDevice> ParseToDevice(std::string_view fields);

}  // namespace tributary::inline rpc
