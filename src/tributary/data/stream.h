#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/data/dataset.h"
#include "tributary/data/record.h"

namespace tributary::inline data {

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
  // A sentence about the state for people who watch: once after each change, then nothing until the next.
  virtual std::optional<std::string> TakeNews() = 0;

  virtual StreamCounts counts() const = 0;

  // Ends connections and hands over what is still to be committed. kStopped afterwards. The destructor does it, too.
  virtual void Close() = 0;
};

// The state of a stream, and what of it has been told. Any thread may set it, any may ask.
class StreamStatus {
 public:
  // `what` begins every sentence: "stream pi-1".
  StreamStatus(std::string what, StreamState first)
      : what_(std::move(what)), state_(std::move(first)), fresh_(state_.phase == StreamPhase::kWaiting) {}

  // News is another phase: a broker that is down for ten reasons in turn is down once. Only what is waited for from the
  // start has no reason yet, and the first one is news. A stopped stream stays stopped.
  void Set(StreamPhase phase, std::string reason) {
    const MutexLock lock(mutex_);
    if ((state_.phase == phase && !fresh_) || state_.phase == StreamPhase::kStopped) return;
    state_ = {phase, std::move(reason)};
    fresh_ = false;
    news_ = true;
  }

  StreamState state() const {
    const MutexLock lock(mutex_);
    return state_;
  }
  std::optional<std::string> TakeNews() {
    const MutexLock lock(mutex_);
    if (!std::exchange(news_, false)) return std::nullopt;
    return what_ + ": " + state_.reason;
  }

 private:
  const std::string what_;
  mutable Mutex mutex_;
  StreamState state_ TRIBUTARY_GUARDED_BY(mutex_);
  bool fresh_ TRIBUTARY_GUARDED_BY(mutex_);         // Waiting since the start, for no reason yet.
  bool news_ TRIBUTARY_GUARDED_BY(mutex_) = false;  // The state was not told.
};

// What a custom stream is made for: one device.
struct StreamScene {
  DeviceId device;
  std::uint64_t seed = 0;  // of the experiment
  // What samples must be like; others are not used.
  SampleFormat format;
  // The device's own samples: these of the data set. A stream may bring them, or others.
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> part;
  SamplesPerSecond rate;  // the stream-rate of its group; 0 if it has none
  TimePoint start{0};     // when its time begins, on the clock that Poll is given the time of
  std::string argument;   // what stands behind the colon of NAME:ARGUMENT
};

// Makes a stream. Called once for each device, when a run begins, on one thread.
//
// In a simulated run Poll is given virtual times, never smaller ones than before, and StreamSample::produced is when the
// sample arrives, on the same clock, in ascending order: a simulator asks for times ahead of its own. Such a stream is a
// function of the scene and the time, and never waits. On a real device Poll is given real times.
using StreamMaker = std::function<StatusOr<std::unique_ptr<Stream>>(const StreamScene&)>;

}  // namespace tributary::inline data
