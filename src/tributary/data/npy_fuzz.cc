#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/npy.h"
#include "tributary/data/npy_folder.h"

// Whatever is read as integers must come back the same from a file of our own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  const auto array = ParseNpy(bytes);
  if (array.ok()) {
    TRIBUTARY_CHECK(NpyToFloats(*array).size() == array->count);
    if (const auto integers = NpyToIntegers(*array); integers.ok()) {
      const std::vector<std::byte> written = FormatNpy(array->shape, *integers);
      const auto again = ParseNpy(written);
      TRIBUTARY_CHECK(again.ok() && again->shape == array->shape);
      TRIBUTARY_CHECK(*NpyToIntegers(*again) == *integers);
    }
  }
  // The input as samples, under labels that fit.
  const std::size_t count =
      array.ok() && !array->shape.empty() ? std::min<std::size_t>(array->shape[0], size) : 1;
  const std::vector<std::int64_t> labels(count, 1);
  const std::vector<std::byte> labels_file = FormatNpy(std::vector<std::size_t>{count}, labels);
  if (const auto dataset = DatasetFromNpy("fuzz", bytes, labels_file); dataset.ok()) {
    TRIBUTARY_CHECK(MeasureNormalisation(*dataset).mean.size() ==
                    static_cast<std::size_t>(dataset->shape().channels));
  }
  // And as labels.
  const std::vector<std::byte> samples_file =
      FormatNpy(std::vector<std::size_t>{1, 1}, std::vector<float>{0.5F});
  if (const auto dataset = DatasetFromNpy("fuzz", samples_file, bytes); dataset.ok()) {
    TRIBUTARY_CHECK(dataset->size() == 1 && dataset->label(0) < dataset->classes());
  }
  return 0;
}
