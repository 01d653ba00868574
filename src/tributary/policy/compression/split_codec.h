#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// How activations and their gradients travel over a network's cut.
enum class SplitPrecision {
  kFloat32,  // as they are
  kFloat16,  // HalfOf: to the nearest, and what is beyond its range becomes its largest value
  kInt8,     // QuantiseBlock: a byte each, with one scale for each sample
};
inline constexpr SplitPrecision kSplitPrecisions[] = {SplitPrecision::kFloat32, SplitPrecision::kFloat16,
                                                      SplitPrecision::kInt8};
std::string_view NameOf(SplitPrecision precision);

// Samples stand one behind the other, little-endian, without anything between: in int8 a float32 scale and then the
// sample's bytes. A sample's bytes do not depend on the other samples.
std::size_t SplitBytes(SplitPrecision precision, std::size_t samples, std::size_t per_sample);

// Appends whole samples of per_sample values (at least 1) each. Values must be finite; otherwise an error says which is
// not, and nothing is appended.
Status AppendSplitValues(SplitPrecision precision, std::span<const float> values, std::size_t per_sample,
                         std::vector<std::byte>& out);

// Reads values.size() values, whole samples, out of any bytes: exactly SplitBytes of them. Refuses other lengths, and
// values that are not finite; what is in `values` then means nothing.
Status ReadSplitValues(SplitPrecision precision, std::span<const std::byte> bytes, std::size_t per_sample,
                       std::span<float> values);

}  // namespace tributary::inline policy
