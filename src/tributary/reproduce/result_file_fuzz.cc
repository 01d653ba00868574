#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/reproduce/result_file.h"

// Whatever is read comes back the same from a text of our own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto result = ParseArmResult({reinterpret_cast<const char*>(data), size});
  if (!result.ok()) return 0;
  const auto text = FormatArmResult(*result);
  TRIBUTARY_CHECK(text.ok());
  const auto again = ParseArmResult(*text);
  TRIBUTARY_CHECK(again.ok() && again->measurement.numbers == result->measurement.numbers);
  TRIBUTARY_CHECK(again->arm == result->arm && again->seed == result->seed);
  TRIBUTARY_CHECK(FormatArmResult(*again).value() == *text);
  return 0;
}
