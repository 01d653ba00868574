#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/data/stream.h"
#include "tributary/data/stream_buffer.h"
#include "tributary/policy/streaming/stream_batch.h"

namespace tributary::inline data {

// Moves samples from a stream into a buffer. Does not poll while the buffer is full, so that the backlog
// stays at the broker; the samples of the last Poll wait here. Both must outlive the feed. Not thread-safe.
class StreamFeed {
 public:
  StreamFeed(Stream& stream, StreamBuffer& buffer) : stream_(stream), buffer_(buffer) {}

  // Seeks the stream to the buffer's next_needed(). Once, before the first Pump.
  Status Start() { return stream_.Seek(buffer_.next_needed()); }

  // Moves the samples of one Poll. Returns the number that the buffer took, for estimating the rate.
  std::int64_t Pump(TimePoint now, const PollLimits& limits = {});

  // News of stream and buffer, each change once.
  std::vector<std::string> TakeNews();

 private:
  Stream& stream_;
  StreamBuffer& buffer_;
  std::vector<StreamSample> waiting_;
  std::size_t next_ = 0;  // the first waiting sample that was not taken
};

struct StreamSourceOptions {
  // Buffering: all samples, or (nullopt) only the newest, as many as in the last batch; initially `newest`.
  std::optional<PersistOptions> persist;
  std::size_t newest = 64;
  // Limit on taken samples that are kept for repetition; older ones are read from the stream again.
  Bytes hand{64'000'000};
  // Messages for people, on a separate thread.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

// Statistics of a stream and its buffer.
struct StreamStanding {
  std::optional<SamplesPerSecond> rate;  // measured
  StreamCounts counts;
  BufferMetrics buffer;
};

// Samples for a device whose model is elsewhere. The coordinator names the position from which samples are
// delivered. So samples that were delivered but not applied (because an answer was late, or a coordinator
// lost unsaved state) are delivered again, and applied ones are not. A separate thread always reads the
// stream, to measure the rate and keep the broker connection alive; otherwise for one thread.
class StreamSource {
 public:
  // `stream` is not read before Seek.
  StreamSource(StreamSourceOptions options, std::unique_ptr<Stream> stream, const Clock& clock);
  ~StreamSource();

  // Samples below `position` are in the model; delivery continues at `position`. Free if that is the current
  // or a recent position. Fails for a disk error.
  Status Seek(std::int64_t position);

  // Waits for the next `count` samples from the position of Seek; repeats them until Seek to another
  // position. Cancelled if `give_up`, called several times per second, returns true.
  StatusOr<std::vector<StreamSample>> Take(std::size_t count, const std::function<bool()>& give_up);

  // No reader will seek below `position`: disk and broker may drop earlier samples.
  Status Forget(std::int64_t position);

  StreamStanding standing() const;

 private:
  void Pump();
  // Reads the stream again from `position`.
  Status Restart(std::int64_t position) TRIBUTARY_REQUIRES(mutex_);
  // Index in hand_ of the first sample at or after a position.
  std::size_t PlaceOf(std::int64_t position) const TRIBUTARY_REQUIRES(mutex_);
  void TrimHand() TRIBUTARY_REQUIRES(mutex_);

  const StreamSourceOptions options_;
  const Clock& clock_;

  mutable Mutex mutex_;
  Condition changed_;  // samples have come, or stop_ is set
  const std::unique_ptr<Stream> stream_ TRIBUTARY_POINTED_TO_GUARDED_BY(mutex_);
  std::unique_ptr<StreamBuffer> buffer_ TRIBUTARY_GUARDED_BY(mutex_);    // null before the first Seek
  TruncatingBuffer* truncating_ TRIBUTARY_GUARDED_BY(mutex_) = nullptr;  // buffer_ if truncating
  std::size_t capacity_ TRIBUTARY_GUARDED_BY(mutex_);                    // of a truncating buffer
  std::optional<StreamFeed> feed_ TRIBUTARY_GUARDED_BY(mutex_);
  std::optional<RateEstimate> rate_ TRIBUTARY_GUARDED_BY(mutex_);
  TimePoint observed_ TRIBUTARY_GUARDED_BY(mutex_){0};
  // Samples taken from the buffer and not forgotten, in order; complete from hand_from_ on.
  std::deque<StreamSample> hand_ TRIBUTARY_GUARDED_BY(mutex_);
  std::int64_t hand_from_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  Bytes hand_bytes_ TRIBUTARY_GUARDED_BY(mutex_){0};
  std::int64_t next_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // position of Seek
  bool stop_ TRIBUTARY_GUARDED_BY(mutex_) = false;

  std::thread pump_;
};

}  // namespace tributary::inline data
