#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/published_formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  for (const CifarKind kind : {CifarKind::kCifar10, CifarKind::kCifar100}) {
    CifarSamples samples;
    const Status status = AppendCifar(std::as_bytes(std::span(data, size)), kind, samples);
    TRIBUTARY_CHECK(status.ok() == !samples.labels.empty());
    TRIBUTARY_CHECK(samples.pixels.size() == samples.labels.size() * kCifarPixels);
    for (const std::int32_t label : samples.labels) TRIBUTARY_CHECK(label >= 0 && label < CifarClasses(kind));
  }
  return 0;
}
