#pragma once

#include <string>
#include <vector>

#include "tributary/data/stream.h"
#include "tributary/data/stream_buffer.h"

namespace tributary {

// Carries samples from a stream into a buffer. While the buffer is full nothing is polled, so that what piles up does so
// at the broker; the samples of the last Poll wait here. Both must outlive it. For one thread.
class StreamFeed {
 public:
  StreamFeed(Stream& stream, StreamBuffer& buffer) : stream_(stream), buffer_(buffer) {}

  // Seeks the stream to where the buffer needs it. Once, before the first Pump.
  Status Start() { return stream_.Seek(buffer_.next_needed()); }

  // As much as one Poll brings. How many samples the buffer has taken: what a rate is estimated from.
  std::int64_t Pump(TimePoint now, const PollLimits& limits = {});

  // What stream and buffer have to say since the last time, each change once.
  std::vector<std::string> TakeNews();

 private:
  Stream& stream_;
  StreamBuffer& buffer_;
  std::vector<StreamSample> waiting_;
  std::size_t next_ = 0;  // The first of them that was not taken.
};

}  // namespace tributary
