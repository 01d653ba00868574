#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/fleet/grpc/frame.h"
#include "tributary/fleet/grpc/wire.h"

namespace {

using namespace tributary;

// Whatever reads as a message is written as one that reads back the same, in either direction.
template <typename Parse>
void CheckRoundTrip(const Frame& frame, Parse parse) {
  const auto message = parse(frame.fields);
  if (!message.ok()) {
    TRIBUTARY_CHECK(!message.status().message().empty());
    return;
  }
  const std::string fields = Format(*message);
  const auto again = parse(fields);
  TRIBUTARY_CHECK(again.ok());
  TRIBUTARY_CHECK(Format(*again) == fields);
  // And so does the frame that would carry it.
  const ByteSpan values = frame.values();
  const std::string heading = fields + ValuesHeading(values.size());
  const ByteSpan pieces[] = {std::as_bytes(std::span(heading)), values};
  Frame carried;
  TRIBUTARY_CHECK(SplitFrame(pieces, carried).ok());
  TRIBUTARY_CHECK(carried.fields == fields);
  TRIBUTARY_CHECK(std::ranges::equal(carried.values(), values));
}

}  // namespace

// The first byte says where the network cuts the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = data[0] == 0 ? size : data[0];
  const ByteSpan bytes = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<ByteSpan> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    pieces.push_back(bytes.subspan(at, std::min(step, bytes.size() - at)));
  }
  Frame whole, cut;
  const Status status = SplitFrame(std::span(&bytes, 1), whole);
  TRIBUTARY_CHECK(SplitFrame(pieces, cut) == status);
  if (!status.ok()) return 0;
  TRIBUTARY_CHECK(cut.fields == whole.fields && std::ranges::equal(cut.values(), whole.values()));
  CheckRoundTrip(whole, ParseFromDevice);
  CheckRoundTrip(whole, ParseToDevice);
  return 0;
}
