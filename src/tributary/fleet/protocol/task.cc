#include "tributary/fleet/protocol/task.h"

#include <algorithm>

namespace tributary::inline protocol {
namespace {

Bytes SizeOf(ByteSpan values) { return Bytes{static_cast<std::int64_t>(values.size())}; }

}  // namespace

std::optional<OutgoingMessage> Task::Next(const SharedWeights& weights, std::size_t record_bytes) {
  if (cut && cut->reply) return NextReply();
  if (delivery.done()) return std::nullopt;
  if (delivery.samples_at < delivery.samples.size()) return NextSamples(record_bytes);
  const auto [array, segment] = delivery.weights[delivery.sent++];
  const auto values = std::as_bytes((array == Array::kStatistics ? weights.statistics : weights.parameters)
                                        .subspan(segment.offset, segment.count));
  down += SizeOf(values);
  return OutgoingMessage{Piece{ticket, array, segment.offset, 0}, values};
}

OutgoingMessage Task::NextReply() {
  const SharedBytes reply = cut->reply;
  const auto some =
      ByteSpan(*reply).subspan(cut->replied, std::min(kMostCrossingBytes, reply->size() - cut->replied));
  cut->replied += some.size();
  down += SizeOf(some);
  const Crossing crossing{ticket, cut->crossing};
  if (cut->replied == reply->size()) {  // It goes on, and may come to the next.
    *cut = SplitProgress{.crossings = cut->crossings, .crossing = cut->crossing + 1};
  }
  return {crossing, some, reply};
}

OutgoingMessage Task::NextSamples(std::size_t record_bytes) {
  const SharedBytes records = delivery.samples[delivery.samples_at];
  const std::size_t most = std::max<std::size_t>(1, kMostSampleBytes / record_bytes) * record_bytes;
  const auto some = ByteSpan(*records).subspan(delivery.samples_offset,
                                               std::min(records->size() - delivery.samples_offset, most));
  delivery.samples_offset += some.size();
  if (delivery.samples_offset == records->size()) {
    ++delivery.samples_at;
    delivery.samples_offset = 0;
  }
  down += SizeOf(some);
  injected += SizeOf(some);
  return {Samples{ticket}, some, records};
}

}  // namespace tributary::inline protocol
