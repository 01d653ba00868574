#pragma once

#include <deque>
#include <memory>

#include "tributary/data/spool.h"
#include "tributary/data/stream_buffer.h"
#include "tributary/data/stream_status.h"

namespace tributary {

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
  struct Held {
    StreamSample sample;
    TimePoint arrived;
  };

  PersistingBuffer(const PersistOptions& options, Spool spool, std::int64_t from, TimePoint now);
  bool FitsInMemory(const StreamSample& sample) const;
  Pushed Keep(StreamSample& sample, TimePoint now);  // In memory.
  Pushed Spill(const StreamSample& sample, TimePoint now);
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

}  // namespace tributary
