#pragma once

#include <deque>

#include "tributary/data/stream_buffer.h"

namespace tributary {

// Keeps the newest samples and drops the oldest: memory is bounded, and training follows the stream as it is now. Holds
// nothing across a restart, and is never full.
class TruncatingBuffer : public StreamBuffer {
 public:
  // `capacity` samples, at least one. `from` is the first position that was not applied yet.
  TruncatingBuffer(std::size_t capacity, std::int64_t from);

  // Follows a rate that changes. What is over is dropped at once.
  void SetCapacity(std::size_t capacity);

  Pushed Push(StreamSample& sample, TimePoint now) override;
  StatusOr<std::vector<StreamSample>> Take(std::size_t count) override;
  Status Release(std::int64_t) override { return OkStatus(); }
  std::int64_t next_needed() const override { return last_ + 1; }
  BufferMetrics metrics(TimePoint now) const override;
  std::optional<std::string> TakeNews() override { return std::nullopt; }

 private:
  struct Held {
    StreamSample sample;
    TimePoint arrived;
  };
  void DropOverflow();

  std::size_t capacity_;
  std::deque<Held> held_;
  Bytes bytes_{0};
  std::int64_t last_;
  std::int64_t dropped_ = 0;
  std::int64_t duplicates_ = 0;
};

}  // namespace tributary
