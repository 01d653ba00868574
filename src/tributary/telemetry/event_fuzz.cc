#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/telemetry/event_json.h"
#include "tributary/telemetry/testing_log.h"

// Whatever reads as an event is written as one that reads back to the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto event = EventFromJson(text); event.ok()) {
    const std::string line = EventToJson(*event);
    TRIBUTARY_CHECK(line.find('\n') == std::string::npos);
    const auto again = EventFromJson(line);
    TRIBUTARY_CHECK(again.ok());
    TRIBUTARY_CHECK(EventToJson(*again) == line);
  }
  if (const auto events = EventsFromJsonLines(text); events.ok()) {
    TRIBUTARY_CHECK(events->empty() == (size == 0));
  }
  return 0;
}
