#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "tributary/base/check.h"
#include "tributary/fleet/protocol/audit_log.h"

// A log that is accepted is still accepted when its unfinished line is taken off, and not when a line is repeated.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::istringstream whole(text);
  const auto state = VerifyAudit(whole);
  if (!state.ok()) {
    TRIBUTARY_CHECK(!state.status().message().empty());
    return 0;
  }
  TRIBUTARY_CHECK(state->bytes + state->unfinished == size);
  const std::string lines = text.substr(0, state->bytes);
  std::istringstream finished(lines);
  const auto again = VerifyAudit(finished);
  TRIBUTARY_CHECK(again.ok() && again->entries == state->entries && again->last == state->last);
  TRIBUTARY_CHECK(again->unfinished == 0);
  std::istringstream twice(lines + lines);
  TRIBUTARY_CHECK(lines.empty() || !VerifyAudit(twice).ok());
  return 0;
}
