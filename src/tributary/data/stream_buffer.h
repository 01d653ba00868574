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

 protected:
  struct Held {
    StreamSample sample;
    TimePoint arrived;
  };
};

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
  void DropOverflow();

  std::size_t capacity_;
  std::deque<Held> held_;
  Bytes bytes_{0};
  std::int64_t last_;
  std::int64_t dropped_ = 0;
  std::int64_t duplicates_ = 0;
};

struct PersistOptions {
  Bytes memory{64'000'000};      // Samples beyond it go to disk. Room for at least one is always made.
  std::filesystem::path folder;  // For those.
  Bytes disk{0};                 // Takes no more when it holds so much; 0: until the disk is full.
};

// Keeps every sample. The oldest lie in memory, and when that is full the newer ones in a spool on disk; while that
// holds anything that was not released, all that comes goes through it. So what is on disk is one stretch of the stream
// without a hole, up to its newest sample, and what was in memory alone is older than all of it.
//
// After kill -9 the stretch on disk is found again, and only what was in memory has to come from the stream a second
// time: next_needed() points there, nothing of the stretch is given out before it has come, and what comes twice is
// dropped. A stream that cannot bring it again (it brings something later) ends the wait.
//
// When the disk is full it takes no more, says so once, and loses nothing; when there is room again it goes on.
class PersistingBuffer : public StreamBuffer {
 public:
  // `from` is the first position that was not applied yet: what the disk holds below it is released.
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
  Pushed Keep(StreamSample& sample, TimePoint now);  // In memory.
  Pushed Spill(const StreamSample& sample, TimePoint now);
  Pushed Taken();
  Pushed Refuse(const std::string& why);

  const PersistOptions options_;
  Spool spool_;
  StreamStatus status_;
  std::deque<Held> memory_;
  Bytes memory_bytes_{0};
  std::deque<TimePoint> spilled_;  // When each entry that is unread in the spool arrived.
  std::int64_t newest_;            // Of all that was ever pushed, or applied before.
  std::int64_t newest_kept_;       // Of those, in memory.
  std::int64_t missing_until_;  // After a restart: up to here the stream has to bring again; −1 otherwise.
  std::int64_t dropped_ = 0;
  std::int64_t duplicates_ = 0;
  bool full_ = false;
};

}  // namespace tributary::inline data
