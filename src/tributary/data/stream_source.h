#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tributary/data/persisting_buffer.h"
#include "tributary/data/stream.h"
#include "tributary/data/stream_feed.h"
#include "tributary/data/truncating_buffer.h"
#include "tributary/policy/streaming/rate_estimate.h"

namespace tributary {

struct StreamSourceOptions {
  // How samples wait: all of them, or (none) the newest, as many as the last batch took; before the first, `newest`.
  std::optional<PersistOptions> persist;
  std::size_t newest = 64;
  // What was taken and may be asked for again is held up to this; beyond it, it is read from the stream again.
  Bytes hand{64'000'000};
  std::function<void(const std::string&)> say = [](const std::string&) {
  };  // for people; on a thread of its own
};

// What is known of a stream and its buffer.
struct StreamStanding {
  std::optional<SamplesPerSecond> rate;  // as measured
  StreamCounts counts;
  BufferMetrics buffer;
};

// Samples for a device whose model lives elsewhere: which of them counted, the coordinator says, and may take back.
//
// Every sample is given out from a position on that was named by whoever knows what is in the model. So what was given
// out and did not count, because an answer was late or a coordinator lost what it had not saved, is given out again, and
// what counted is not. Reads the stream all the time on a thread of its own, so that its rate is known and brokers are
// kept company; otherwise for one thread.
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

  // Nobody will ever seek below `position` again: disk and broker may forget what lies there.
  Status Forget(std::int64_t position);

  StreamStanding standing() const;

 private:
  void Pump(std::stop_token stop);
  // Reads the stream again from there.
  Status Restart(std::int64_t position);
  // The place in hand_ of the first sample at or after a position.
  std::size_t PlaceOf(std::int64_t position) const;
  void TrimHand();

  const StreamSourceOptions options_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  const std::unique_ptr<Stream> stream_;
  std::unique_ptr<StreamBuffer> buffer_;    // none before the first Seek
  TruncatingBuffer* truncating_ = nullptr;  // the same, where it is one
  std::size_t capacity_;                    // of such a one
  std::optional<StreamFeed> feed_;
  std::optional<RateEstimate> rate_;
  TimePoint observed_{0};
  std::deque<StreamSample> hand_;  // taken from the buffer and not forgotten, in order
  std::int64_t hand_from_ = 0;     // from here on nothing is missing in it
  Bytes hand_bytes_{0};
  std::int64_t next_ = 0;  // where Seek was to

  std::jthread pump_;  // Last: it uses all of the above.
};

}  // namespace tributary
