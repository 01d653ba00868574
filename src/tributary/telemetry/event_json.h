#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline telemetry {

// One event as one line of JSON, without line end:
//
//   {"type":"round-started","time_ns":1500000000,"round":3,"participants":8}
//
// The bytes depend only on the event: keys in a fixed order, shortest numbers that read back to the same
// bits, times in nanoseconds. Absent values are null; numbers that are not finite are "nan", "inf" and
// "-inf". Bytes that are not UTF-8 become U+FFFD.
std::string EventToJson(const Event& event);

// Parses any bytes: Corrupt, naming the missing or wrong key, unless `line` is an event. Ignores unknown
// keys, so that it reads logs of later versions.
StatusOr<Event> EventFromJson(std::string_view line);

}  // namespace tributary::inline telemetry
