#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/telemetry/run_facts.h"

// Whatever reads as facts is written as facts that read back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto facts = ParseFacts({reinterpret_cast<const char*>(data), size});
  if (!facts.ok()) return 0;
  const std::string text = FormatFacts(*facts);
  const auto again = ParseFacts(text);
  TRIBUTARY_CHECK(again.ok());
  TRIBUTARY_CHECK(FormatFacts(*again) == text);
  return 0;
}
