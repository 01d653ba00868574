#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// How activations and their gradients are encoded at the split point.
enum class SplitPrecision {
  kFloat32,
  kFloat16,  // HalfOf: nearest value, out of range becomes the largest of its sign
  kInt8,     // QuantiseBlock: one byte per value, one scale per sample
};
inline constexpr SplitPrecision kSplitPrecisions[] = {SplitPrecision::kFloat32, SplitPrecision::kFloat16,
                                                      SplitPrecision::kInt8};
std::string_view NameOf(SplitPrecision precision);

// Samples are contiguous, little-endian; int8: a float32 scale, then the sample's bytes. The bytes of a
// sample do not depend on other samples.
std::size_t SplitBytes(SplitPrecision precision, std::size_t samples, std::size_t per_sample);

// Appends whole samples of per_sample values (at least 1). Fails, naming the value, if one is not finite.
Status AppendSplitValues(SplitPrecision precision, std::span<const float> values, std::size_t per_sample,
                         std::vector<std::byte>& out);

// Reads values.size() values, whole samples, from untrusted bytes. Refuses sizes other than SplitBytes and
// values that are not finite; `values` is then undefined.
Status ReadSplitValues(SplitPrecision precision, std::span<const std::byte> bytes, std::size_t per_sample,
                       std::span<float> values);

}  // namespace tributary::inline policy
