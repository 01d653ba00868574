#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/stream_sample.h"

namespace tributary {

struct BufferMetrics {
  std::int64_t samples = 0;  // That Take would give.
  Bytes memory{0};
  Bytes disk{0};
  Duration oldest{0};  // How long the oldest has been here; 0 if there is none. Across a restart: since that.
  std::int64_t dropped = 0;
  std::int64_t duplicates = 0;
  bool full = false;  // The last Push was refused.

  friend bool operator==(const BufferMetrics&, const BufferMetrics&) = default;
};

enum class Pushed {
  kTaken,
  kDuplicate,  // It was here before; dropped, and counted.
  kFull,  // Not now: the sample is as it was, and is to be offered again. Nothing more should be polled till then.
};

// Samples that have arrived and are not trained on yet, in the order of their positions, in bounded space. What it does
// when more arrive than it has room for is what sets its kinds apart: TruncatingBuffer, PersistingBuffer.
//
//   1. Seek the stream to next_needed().
//   2. Push what it brings, Take what a step needs, the oldest first.
//   3. Release what has been applied for good. Until then a restart may need it again.
//
// StreamFeed does the first two for a stream. For one thread.
class StreamBuffer {
 public:
  virtual ~StreamBuffer() = default;

  virtual Pushed Push(StreamSample& sample, TimePoint now) = 0;

  // At most `count`, fewer if there are fewer. The error of a disk that cannot be read again; what it held is lost,
  // counted as dropped, and the next call goes on behind it.
  virtual StatusOr<std::vector<StreamSample>> Take(std::size_t count) = 0;

  virtual Status Release(std::int64_t position) = 0;

  // Where the stream has to go on for nothing to be missing here.
  virtual std::int64_t next_needed() const = 0;

  virtual BufferMetrics metrics(TimePoint now) const = 0;

  // As of a stream: a sentence when it can take no more, and one when it can again.
  virtual std::optional<std::string> TakeNews() = 0;
};

}  // namespace tributary
