#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tributary/base/check.h"
#include "tributary/fleet/front_file.h"

// Any text is answered with a front that can be looked up in and written, or with words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto front = ParseFront({reinterpret_cast<const char*>(data), size});
  if (!front.ok()) {
    TRIBUTARY_CHECK(!front.status().message().empty());
    return 0;
  }
  for (const FrontPoint& point : front->points)
    TRIBUTARY_CHECK(front->BestFit(point.Cost(front->cost)) == &point);
  const auto again = ParseFront(FormatFront(*front));
  TRIBUTARY_CHECK(again.ok() && again->points == front->points &&
                  again->groups.size() == front->groups.size());
  return 0;
}
