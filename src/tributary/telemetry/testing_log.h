#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tributary/telemetry/event_json.h"

namespace tributary::inline telemetry {

// A whole log: one event per line, each line ended. Errors name the line, from 1.
inline StatusOr<std::vector<Event>> EventsFromJsonLines(std::string_view text) {
  std::vector<Event> events;
  while (!text.empty()) {
    const std::string where = "line " + std::to_string(events.size() + 1);
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return Corrupt(where + ": the last line is cut off");
    auto event = EventFromJson(text.substr(0, end));
    if (!event.ok()) return std::move(event).status().WithContext(where);
    events.push_back(std::move(event).value());
    text.remove_prefix(end + 1);
  }
  return events;
}

}  // namespace tributary::inline telemetry
