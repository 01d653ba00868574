#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/record.h"
#include "tributary/data/spool.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

struct BufferMetrics {
  std::int64_t samples = 0;  // available to Take
  Bytes memory{0};
  Bytes disk{0};
  Duration oldest{0};  // age of the oldest sample, or time since a restart; 0 if empty
  std::int64_t dropped = 0;
  std::int64_t duplicates = 0;
  bool full = false;  // The last Push was refused.

  friend bool operator==(const BufferMetrics&, const BufferMetrics&) = default;
};

enum class Pushed {
  kTaken,
  kDuplicate,  // received before; dropped and counted
  kFull,       // not now: offer the unchanged sample again, and do not poll until it is taken
};

// Received samples that are not yet used for training, in the order of positions, in bounded space.
// Implementations differ in what they do on overflow: TruncatingBuffer, PersistingBuffer.
//
//   1. Seek the stream to next_needed().
//   2. Push its samples; Take the oldest for each step.
//   3. Release permanently applied samples. Until then a restart may need them again.
//
// StreamFeed does 1 and 2 for a stream. Not thread-safe.
class StreamBuffer {
 public:
  virtual ~StreamBuffer() = default;

  virtual Pushed Push(StreamSample& sample, TimePoint now) = 0;

  // At most `count` samples, fewer if fewer are available. An error for an unreadable disk entry, which is
  // lost and counted as dropped; the next call continues after it.
  virtual StatusOr<std::vector<StreamSample>> Take(std::size_t count) = 0;

  virtual Status Release(std::int64_t position) = 0;

  // The position from which the stream must continue so that nothing is missing.
  virtual std::int64_t next_needed() const = 0;

  virtual BufferMetrics metrics(TimePoint now) const = 0;

  // As in Stream: one sentence when the buffer is full, and one when it has room again.
  virtual std::optional<std::string> TakeNews() = 0;

 protected:
  struct Held {
    StreamSample sample;
    TimePoint arrived;
  };
};

// Keeps the newest samples and drops the oldest: memory is bounded, and training follows the current stream.
// Loses its samples in a restart, and is never full.
class TruncatingBuffer : public StreamBuffer {
 public:
  // `capacity` is at least one sample. `from` is the first position that is not applied yet.
  TruncatingBuffer(std::size_t capacity, std::int64_t from);

  // Adapts to a changed rate. Drops the excess at once.
  void SetCapacity(std::size_t capacity);

  Pushed Push(StreamSample& sample, TimePoint now) override;
  StatusOr<std::vector<StreamSample>> Take(std::size_t count) override;
  Status Release(std::int64_t) override { return OkStatus(); }
  std::int64_t next_needed() const override { return last_ + 1; }
  BufferMetrics metrics(TimePoint now) const override;
  std::optional<std::string> TakeNews() override { return std::nullopt; }

 private:
  void DropOverflow();

  std::size_t capacity_;
  std::deque<Held> held_;
  Bytes bytes_{0};
  std::int64_t last_;
  std::int64_t dropped_ = 0;
  std::int64_t duplicates_ = 0;
};

struct PersistOptions {
  Bytes memory{64'000'000};      // More samples go to disk. At least one sample always fits.
  std::filesystem::path folder;  // of the samples on disk
  Bytes disk{0};                 // limit on disk; 0: until the disk is full
};

// Keeps every sample: the oldest in memory, newer ones in a spool on disk when memory is full. While the
// spool holds unreleased samples, all new samples go through it. So the disk holds one contiguous stretch of
// the stream, up to the newest sample, and samples only in memory are older.
//
// After kill -9 the stretch is recovered, and the stream must deliver the samples that were in memory again,
// from next_needed() on. The stretch is not given out before, unless the stream delivers a later sample
// because it cannot repeat them. Duplicates are dropped. On a full disk the buffer refuses samples, reports
// this once, loses nothing, and continues when there is room.
class PersistingBuffer : public StreamBuffer {
 public:
  // `from` is the first position that is not applied yet; samples below it are released from disk.
  static StatusOr<std::unique_ptr<PersistingBuffer>> Open(const PersistOptions& options, std::int64_t from,
                                                          TimePoint now);

  Pushed Push(StreamSample& sample, TimePoint now) override;
  StatusOr<std::vector<StreamSample>> Take(std::size_t count) override;
  Status Release(std::int64_t position) override;
  std::int64_t next_needed() const override;
  BufferMetrics metrics(TimePoint now) const override;
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }

 private:
  PersistingBuffer(const PersistOptions& options, Spool spool, std::int64_t from, TimePoint now);
  bool FitsInMemory(const StreamSample& sample) const;
  Pushed Keep(StreamSample& sample, TimePoint now);  // in memory
  Pushed Spill(const StreamSample& sample, TimePoint now);
  Pushed Taken();
  Pushed Refuse(const std::string& why);

  const PersistOptions options_;
  Spool spool_;
  StreamStatus status_;
  std::deque<Held> memory_;
  Bytes memory_bytes_{0};
  std::deque<TimePoint> spilled_;  // arrival times of the unread entries in the spool
  std::int64_t newest_;            // of all samples ever pushed or applied
  std::int64_t newest_kept_;       // of those kept in memory
  std::int64_t missing_until_;     // after a restart, the last position that must come again; otherwise −1
  std::int64_t dropped_ = 0;
  std::int64_t duplicates_ = 0;
  bool full_ = false;
};

}  // namespace tributary::inline data
