#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/telemetry/run_metadata.h"

// Whatever reads as metadata is written as metadata that reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto metadata = ParseRunMetadata({reinterpret_cast<const char*>(data), size});
  if (!metadata.ok()) return 0;
  const std::string text = FormatRunMetadata(*metadata);
  const auto again = ParseRunMetadata(text);
  TRIBUTARY_CHECK(again.ok());
  TRIBUTARY_CHECK(FormatRunMetadata(*again) == text);
  return 0;
}
