#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tributary/base/check.h"
#include "tributary/explore/state.h"

// Any text is answered with a state or with words, and a state comes back the same from a text of our own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto state = ParseExplorationState({reinterpret_cast<const char*>(data), size});
  if (!state.ok()) {
    TRIBUTARY_CHECK(!state.status().message().empty());
    return 0;
  }
  const auto again = ParseExplorationState(FormatExplorationState(*state));
  TRIBUTARY_CHECK(again.ok() && again->candidates == state->candidates &&
                  again->setup.size() == state->setup.size());
  return 0;
}
