#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/stream_sample.h"

namespace tributary {

enum class StreamPhase {
  kConnected,  // Samples come as they are produced.
  kWaiting,    // None can come now; the stream goes on by itself when it can.
  kStopped,    // None will come again: closed, at its end, or refused for good.
};

struct StreamState {
  StreamPhase phase = StreamPhase::kWaiting;
  std::string reason;  // For a person: "cannot reach 10.0.0.2:9092, trying again".

  friend bool operator==(const StreamState&, const StreamState&) = default;
};

// What has become of everything that was in the stream.
struct StreamCounts {
  std::int64_t delivered = 0;
  std::int64_t undecodable = 0;  // Skipped; their positions are passed over.
  std::int64_t duplicates = 0;   // Came again, and were dropped.
  std::int64_t missing = 0;  // Positions that never came: lost on the way, or no longer kept by the broker.

  friend bool operator==(const StreamCounts&, const StreamCounts&) = default;
};

// How much one Poll may bring, so that neither memory nor time of a call grow with what has piled up.
struct PollLimits {
  std::size_t samples = 1024;
  Bytes bytes{16'000'000};  // The sample that passes it is still brought.
  // In real time, for the first sample. A stream on a virtual clock never waits.
  Duration wait{0};
};

// Where a device's samples come from.
//
//   1. Seek, before the first Poll and whenever the coordinator says so: what was applied is not brought again.
//   2. Poll as often as there is room for samples. Each is brought once, in the order of positions.
//   3. Commit now and then what has been applied for good. It only ever trails: a stream that was committed too little
//      is sought forward, and one that was committed too much could not go back.
//
// Bytes from a broker are not trusted: what cannot be decoded is counted and skipped. Nothing that happens to a broker
// is an error of Poll; state() tells. For one thread.
class Stream {
 public:
  virtual ~Stream() = default;

  // What has arrived by `now`, appended to `out`; nothing that was in it is touched.
  virtual void Poll(TimePoint now, const PollLimits& limits, std::vector<StreamSample>& out) = 0;

  // The next sample will be the first at or after `position`. InvalidArgument for a position that cannot be (below 0);
  // one that is no longer kept is not an error here: the samples that are gone are counted as missing.
  virtual Status Seek(std::int64_t position) = 0;

  // Everything up to and including `position` will not be asked for again.
  virtual void Commit(std::int64_t position) = 0;

  virtual StreamState state() const = 0;
  // A sentence about the state for whoever watches: once after each change, then nothing until the next.
  virtual std::optional<std::string> TakeNews() = 0;

  virtual StreamCounts counts() const = 0;

  // Ends connections and hands over what is still to be committed. kStopped afterwards. The destructor does it, too.
  virtual void Close() = 0;
};

}  // namespace tributary
