#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/record.h"

// Whatever is read as a record is written back to the very same bytes, and what fits becomes a data set.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  const auto record = DecodeRecord(bytes);
  if (!record.ok()) {
    TRIBUTARY_CHECK(!record.status().message().empty());
    return 0;
  }
  TRIBUTARY_CHECK(std::ranges::equal(EncodeRecord(*record), bytes));
  for (const SampleElement element : {SampleElement::kByte, SampleElement::kFloat}) {
    const SampleFormat format = {{1, 2, 2}, element, 10};
    const auto dataset =
        DatasetOfSamples({"fuzz", format.shape, 10, {}}, element, std::span(&record->sample, 1));
    TRIBUTARY_CHECK(dataset.ok() == CheckFits(format, record->sample).ok());
  }
  return 0;
}
