#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/units.h"

namespace tributary {

// How one value of a sample is held: as in Dataset, a byte stands for 0 … 1 in steps of 1/255, a float for itself.
enum class SampleElement : std::uint8_t { kByte = 0, kFloat = 1 };

inline std::int64_t SizeOf(SampleElement element) {
  return element == SampleElement::kByte ? 1 : static_cast<std::int64_t>(sizeof(float));
}

// One labelled sample that a stream has brought.
struct StreamSample {
  // Its place in the stream: an offset (Kafka), a sequence number (MQTT) or an index (replay). Strictly growing, with
  // holes where something could not be decoded or was lost.
  std::int64_t position = 0;
  std::int32_t label = 0;
  SampleElement element = SampleElement::kByte;
  // When it was produced, by its producer's clock: since 1970 from a broker, on the stream's own clock from a replay.
  std::chrono::nanoseconds produced{0};
  // The values channel by channel and row by row, little-endian.
  std::vector<std::byte> payload;

  Bytes bytes() const { return {static_cast<std::int64_t>(payload.size())}; }
  friend bool operator==(const StreamSample&, const StreamSample&) = default;
};

}  // namespace tributary
