#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/data/npy.h"

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "values are read as they lie in the file");

// IEEE half precision: 1 sign, 5 exponent, 10 fraction bits. Every one is exact as a float.
struct Half {
  std::uint16_t bits = 0;

  explicit operator double() const {
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0x1f) {
      return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
    }
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
  }
};

float ToFloat(double value) {
  // A double too large for a float is undefined in the language, though not in IEEE 754.
  constexpr double kMost = std::numeric_limits<float>::max();
  if (std::abs(value) > kMost && std::isfinite(value)) {
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value > 0 ? 1 : -1));
  }
  return static_cast<float>(value);
}

// Calls `function` with each value in turn, until it returns false.
template <typename T, typename Function>
void ForEachOf(const NpyArray& array, const Function& function) {
  for (std::size_t i = 0; i < array.count; ++i) {
    T value;  // The values may lie on any address.
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    if (!function(value)) return;
  }
}

template <typename Function>
void ForEach(const NpyArray& array, const Function& function) {
  switch (array.type) {
    case NpyType::kUint8:
      return ForEachOf<std::uint8_t>(array, function);
    case NpyType::kUint16:
      return ForEachOf<std::uint16_t>(array, function);
    case NpyType::kUint32:
      return ForEachOf<std::uint32_t>(array, function);
    case NpyType::kUint64:
      return ForEachOf<std::uint64_t>(array, function);
    case NpyType::kInt8:
      return ForEachOf<std::int8_t>(array, function);
    case NpyType::kInt16:
      return ForEachOf<std::int16_t>(array, function);
    case NpyType::kInt32:
      return ForEachOf<std::int32_t>(array, function);
    case NpyType::kInt64:
      return ForEachOf<std::int64_t>(array, function);
    case NpyType::kFloat16:
      return ForEachOf<Half>(array, function);
    case NpyType::kFloat32:
      return ForEachOf<float>(array, function);
    case NpyType::kFloat64:
      return ForEachOf<double>(array, function);
  }
  TRIBUTARY_CHECK(false);
}

// Whether the value is a whole number of 64 bits, and if so which.
template <typename T>
bool ToInteger(T value, std::int64_t& integer) {
  if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<std::int64_t>(value)) return false;
    integer = static_cast<std::int64_t>(value);
  } else {
    const auto number = static_cast<double>(value);
    // −2^63 is a double exactly and fits; 2^63 does not. NaN fails both.
    if (!(number >= -0x1p63 && number < 0x1p63) || number != std::floor(number)) return false;
    integer = static_cast<std::int64_t>(number);
  }
  return true;
}

}  // namespace

std::vector<float> NpyToFloats(const NpyArray& array) {
  std::vector<float> values;
  values.reserve(array.count);
  ForEach(array, [&](auto value) {
    values.push_back(ToFloat(static_cast<double>(value)));
    return true;
  });
  return values;
}

StatusOr<std::vector<std::int64_t>> NpyToIntegers(const NpyArray& array) {
  std::vector<std::int64_t> values;
  values.reserve(array.count);
  ForEach(array, [&](auto value) {
    std::int64_t integer = 0;
    if (!ToInteger(value, integer)) return false;
    values.push_back(integer);
    return true;
  });
  if (values.size() != array.count) {
    return Corrupt("value " + std::to_string(values.size()) + " of " + std::to_string(array.count) + " (" +
                   std::string(NpyTypeName(array.type)) +
                   ") is not a whole number between -2^63 and 2^63 - 1");
  }
  return values;
}

}  // namespace tributary
