#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tributary/base/check.h"
#include "tributary/policy/compression/split_codec.h"

// Any bytes give finite values or a reason. What is accepted can be sent again: the same bytes, or in int8 values that
// are off by no more than rounding may be. The first byte says the precision, the second the values of a sample, and
// the samples are as many as there are bytes for, or one more where the first byte's highest bit says so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size < 2) return 0;
  const SplitPrecision precision = kSplitPrecisions[(data[0] & 127) % std::size(kSplitPrecisions)];
  const std::size_t per_sample = 1 + data[1];
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 2, size - 2));
  const std::size_t samples = bytes.size() / SplitBytes(precision, 1, per_sample) + data[0] / 128;
  std::vector<float> values(samples * per_sample);
  if (const Status read = ReadSplitValues(precision, bytes, per_sample, values); !read.ok()) {
    TRIBUTARY_CHECK(!read.message().empty());
    return 0;
  }
  TRIBUTARY_CHECK(bytes.size() == SplitBytes(precision, samples, per_sample));

  std::vector<std::byte> again;
  TRIBUTARY_CHECK(AppendSplitValues(precision, values, per_sample, again).ok() &&
                  again.size() == bytes.size());
  if (precision != SplitPrecision::kInt8) {
    TRIBUTARY_CHECK(bytes.empty() || std::memcmp(again.data(), bytes.data(), bytes.size()) == 0);
    return 0;
  }
  std::vector<float> restored(values.size());
  TRIBUTARY_CHECK(ReadSplitValues(precision, again, per_sample, restored).ok());
  for (std::size_t begin = 0; begin < values.size(); begin += per_sample) {
    double largest = 0;
    for (std::size_t i = 0; i < per_sample; ++i)
      largest = std::max(largest, std::fabs(double{values[begin + i]}));
    for (std::size_t i = begin; i < begin + per_sample; ++i) {
      const double off = std::fabs(double{restored[i]} - double{values[i]});
      TRIBUTARY_CHECK(std::isfinite(restored[i]) && off <= std::max(largest / 253, 0x1p-100));
    }
  }
  return 0;
}
