#include "tributary/policy/compression/split_codec.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {
namespace {

static_assert(std::endian::native == std::endian::little, "values are sent in their memory format");

std::string Place(std::size_t index, std::size_t per_sample) {
  return "value " + std::to_string(index % per_sample) + " of sample " + std::to_string(index / per_sample);
}

// Index of the first value that is not finite, or the size. One vectorised pass suffices if all are finite.
std::size_t FirstNotFinite(std::span<const float> values) {
  std::int32_t largest = 0;
  for (const float value : values) largest = std::max(largest, MagnitudeKey(value));
  if (largest < kInfinityKey) return values.size();
  const auto found = std::find_if(values.begin(), values.end(),
                                  [](float value) { return MagnitudeKey(value) >= kInfinityKey; });
  return static_cast<std::size_t>(found - values.begin());
}

Status CheckReceived(std::span<const float> values, std::size_t per_sample) {
  const std::size_t bad = FirstNotFinite(values);
  if (bad == values.size()) return OkStatus();
  return Corrupt(Place(bad, per_sample) + " received at the split point is not finite");
}

void WriteInt8(std::span<const float> values, std::size_t per_sample, std::byte* to) {
  for (std::size_t begin = 0; begin < values.size(); begin += per_sample) {
    auto* const quantised = reinterpret_cast<std::int8_t*>(to + sizeof(float));
    const float scale = QuantiseBlock(values.subspan(begin, per_sample), quantised);
    std::memcpy(to, &scale, sizeof(scale));
    to += sizeof(scale) + per_sample;
  }
}

Status ReadInt8(const std::byte* from, std::size_t per_sample, std::span<float> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += per_sample) {
    float scale;
    std::memcpy(&scale, from, sizeof(scale));
    if (std::bit_cast<std::uint32_t>(scale) >= 0x80000000U || MagnitudeKey(scale * 127) >= kInfinityKey) {
      return Corrupt("the scale of sample " + std::to_string(begin / per_sample) +
                     " received at the split point is negative or not finite");
    }
    const auto* const quantised = reinterpret_cast<const std::int8_t*>(from + sizeof(scale));
    const auto* const end = quantised + per_sample;
    if (const auto* const bad = std::find(quantised, end, std::int8_t{-128}); bad != end) {
      return Corrupt(Place(begin + static_cast<std::size_t>(bad - quantised), per_sample) +
                     " received at the split point is −128; the minimum is −127");
    }
    RestoreBlock(scale, quantised, values.subspan(begin, per_sample));
    from += sizeof(scale) + per_sample;
  }
  return OkStatus();
}

}  // namespace

std::string_view NameOf(SplitPrecision precision) {
  constexpr std::string_view kNames[] = {"fp32", "fp16", "int8"};
  return kNames[static_cast<std::size_t>(precision)];
}

std::size_t SplitBytes(SplitPrecision precision, std::size_t samples, std::size_t per_sample) {
  switch (precision) {
    case SplitPrecision::kFloat32:
      return samples * per_sample * sizeof(float);
    case SplitPrecision::kFloat16:
      return samples * per_sample * sizeof(std::uint16_t);
    case SplitPrecision::kInt8:
      return samples * (sizeof(float) + per_sample);
  }
  return 0;
}

Status AppendSplitValues(SplitPrecision precision, std::span<const float> values, std::size_t per_sample,
                         std::vector<std::byte>& out) {
  TRIBUTARY_CHECK(per_sample > 0 && values.size() % per_sample == 0);
  if (const std::size_t bad = FirstNotFinite(values); bad < values.size()) {
    return InvalidArgument(
        Place(bad, per_sample) + " at the split point is " + std::to_string(values[bad]) +
        ", and only finite values can be sent; training has diverged: try a lower learning rate");
  }
  const std::size_t begin = out.size();
  out.resize(begin + SplitBytes(precision, values.size() / per_sample, per_sample));
  std::byte* const to = out.data() + begin;
  switch (precision) {
    case SplitPrecision::kFloat32:
      if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
      break;
    case SplitPrecision::kFloat16:
      WriteHalves(values, to);
      break;
    case SplitPrecision::kInt8:
      WriteInt8(values, per_sample, to);
      break;
  }
  return OkStatus();
}

Status ReadSplitValues(SplitPrecision precision, std::span<const std::byte> bytes, std::size_t per_sample,
                       std::span<float> values) {
  TRIBUTARY_CHECK(per_sample > 0 && values.size() % per_sample == 0);
  const std::size_t samples = values.size() / per_sample;
  if (const std::size_t needed = SplitBytes(precision, samples, per_sample); bytes.size() != needed) {
    return Corrupt(std::to_string(samples) + " samples of " + std::to_string(per_sample) + " values as " +
                   std::string(NameOf(precision)) + " take " + std::to_string(needed) + " bytes; found " +
                   std::to_string(bytes.size()));
  }
  switch (precision) {
    case SplitPrecision::kFloat32:
      if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      return CheckReceived(values, per_sample);
    case SplitPrecision::kFloat16:
      ReadHalves(bytes.data(), values);
      return CheckReceived(values, per_sample);
    case SplitPrecision::kInt8:
      return ReadInt8(bytes.data(), per_sample, values);
  }
  return OkStatus();
}

}  // namespace tributary::inline policy
