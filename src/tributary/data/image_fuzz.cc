#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/image.h"

// Any bytes are a picture of the size that they claim, or an error. The bounds are small, so that what gets past them is
// looked at often.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto image =
      DecodeImage(std::as_bytes(std::span(data, size)), {.side = 600, .pixels = 100'000, .scans = 20});
  if (!image.ok()) {
    TRIBUTARY_CHECK(!image.status().message().empty());
    return 0;
  }
  TRIBUTARY_CHECK(image->channels == 1 || image->channels == 3);
  TRIBUTARY_CHECK(image->pixels.size() == image->width * image->height * image->channels);
  const Image other = Resized(WithChannels(*image, 4 - image->channels), 7, 3);
  TRIBUTARY_CHECK(other.pixels.size() == 7 * 3 * other.channels);
  return 0;
}
