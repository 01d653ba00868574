#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/published_formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  for (const std::int64_t limit : {0, 10, 100'000}) {
    const auto unpacked = Gunzip(std::as_bytes(std::span(data, size)), Bytes{limit});
    if (unpacked.ok()) TRIBUTARY_CHECK(unpacked->size() <= static_cast<std::size_t>(limit));
  }
  return 0;
}
