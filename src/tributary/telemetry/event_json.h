#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline telemetry {

// One event as one line of JSON, without its end:
//
//   {"type":"round-started","time_ns":1500000000,"round":3,"participants":8}
//
// The bytes are a function of the event alone: keys in a fixed order, numbers in the shortest form that reads
// back to the same bits, times in whole nanoseconds. What is absent is null. JSON has no numbers that are not
// finite: they are written as "nan", "inf" and "-inf". Bytes in a text that are not UTF-8 become U+FFFD.
std::string EventToJson(const Event& event);

// The reverse. Total on any bytes: Corrupt, saying which key is missing or wrong, unless `line` is an event.
// Keys that this version does not know are skipped, so that it reads the logs of later ones.
StatusOr<Event> EventFromJson(std::string_view line);

}  // namespace tributary::inline telemetry
