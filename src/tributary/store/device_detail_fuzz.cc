#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/store/device_detail.h"

// Whatever reads as details is written as bytes that read back to the same ones.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto devices = DecodeDetail({1}, std::as_bytes(std::span(data, size)));
  if (!devices.ok()) return 0;
  const auto bytes = EncodeDetail(*devices);
  const auto again = DecodeDetail({1}, bytes);
  TRIBUTARY_CHECK(again.ok());
  TRIBUTARY_CHECK(EncodeDetail(*again) == bytes);
  return 0;
}
