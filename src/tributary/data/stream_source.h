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

struct StreamSourceOptions {
  // How samples wait: all of them, or (none) the newest, as many as the last batch took; before the first, `newest`.
  std::optional<PersistOptions> persist;
  std::size_t newest = 64;
  // What was taken and may be asked for again is held up to this; beyond it, it is read from the stream again.
  Bytes hand{64'000'000};
  // For people; on a thread of its own.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

// What is known of a stream and its buffer.
struct StreamStanding {
  std::optional<SamplesPerSecond> rate;  // as measured
  StreamCounts counts;
  BufferMetrics buffer;
};

// Samples for a device whose model lives elsewhere: which of them counted, the coordinator says, and may take back.
//
// Every sample is given out from a position on named by the keeper of the model. So what was given
// out and did not count, because an answer was late or a coordinator lost what it had not saved, is given out again, and
// what counted is not. Reads the stream all the time on a thread of its own, so that the rate can be
// measured and the broker connection stays alive; otherwise for one thread.
class StreamSource {
 public:
  // `stream` is not read before Seek.
  StreamSource(StreamSourceOptions options, std::unique_ptr<Stream> stream, const Clock& clock);
  ~StreamSource();

  // Everything below `position` is in the model, and what follows will be taken next. Costs nothing if that is where it
  // is, or where it has been a moment ago. The error of a disk.
  Status Seek(std::int64_t position);

  // The next `count` samples from where Seek was to, as soon as they are there; the same again until it is sought
  // elsewhere. Cancelled once `give_up`, asked a few times a second, says so.
  StatusOr<std::vector<StreamSample>> Take(std::size_t count, const std::function<bool()>& give_up);

  // No reader will seek below `position` again: disk and broker may forget what lies there.
  Status Forget(std::int64_t position);

  StreamStanding standing() const;

 private:
  void Pump();
  // Reads the stream again from there.
  Status Restart(std::int64_t position) TRIBUTARY_REQUIRES(mutex_);
  // The place in hand_ of the first sample at or after a position.
  std::size_t PlaceOf(std::int64_t position) const TRIBUTARY_REQUIRES(mutex_);
  void TrimHand() TRIBUTARY_REQUIRES(mutex_);

  const StreamSourceOptions options_;
  const Clock& clock_;

  mutable Mutex mutex_;
  Condition changed_;  // samples have come, or stop_ is set
  const std::unique_ptr<Stream> stream_ TRIBUTARY_POINTED_TO_GUARDED_BY(mutex_);
  std::unique_ptr<StreamBuffer> buffer_ TRIBUTARY_GUARDED_BY(mutex_);    // none before the first Seek
  TruncatingBuffer* truncating_ TRIBUTARY_GUARDED_BY(mutex_) = nullptr;  // the same, where it is one
  std::size_t capacity_ TRIBUTARY_GUARDED_BY(mutex_);                    // of such a one
  std::optional<StreamFeed> feed_ TRIBUTARY_GUARDED_BY(mutex_);
  std::optional<RateEstimate> rate_ TRIBUTARY_GUARDED_BY(mutex_);
  TimePoint observed_ TRIBUTARY_GUARDED_BY(mutex_){0};
  // Taken from the buffer and not forgotten, in order; from hand_from_ on nothing is missing in it.
  std::deque<StreamSample> hand_ TRIBUTARY_GUARDED_BY(mutex_);
  std::int64_t hand_from_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  Bytes hand_bytes_ TRIBUTARY_GUARDED_BY(mutex_){0};
  std::int64_t next_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // where Seek was to
  bool stop_ TRIBUTARY_GUARDED_BY(mutex_) = false;

  std::thread pump_;
};

}  // namespace tributary::inline data
