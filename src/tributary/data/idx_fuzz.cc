#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/published_formats.h"

// The input is read as images and as labels; and as both files of a data set, cut where its first byte says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  if (const auto images = ParseIdxImages(bytes); images.ok()) {
    TRIBUTARY_CHECK(images->pixels.size() == images->count * images->height * images->width);
  }
  if (const auto labels = ParseIdxLabels(bytes); labels.ok()) TRIBUTARY_CHECK(labels->size() + 8 == size);
  if (size == 0) return 0;
  const ByteSpan rest = bytes.subspan(1);
  const std::size_t cut = rest.size() < data[0] ? rest.size() : data[0];
  const auto dataset = DatasetFromIdx({"fuzz", {}, 10, {}}, rest.first(cut), rest.subspan(cut));
  if (dataset.ok() && dataset->size() > 0) {
    std::vector<float> sample(static_cast<std::size_t>(dataset->shape().elements()));
    dataset->Read(dataset->size() - 1, sample);
    TRIBUTARY_CHECK(dataset->label(0) < 10);
  }
  return 0;
}
