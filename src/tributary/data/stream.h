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
  kConnected,  // Samples arrive as they are produced.
  kWaiting,    // No samples at present; the stream resumes by itself.
  kStopped,    // No more samples: closed, at its end, or refused permanently.
};

struct StreamState {
  StreamPhase phase = StreamPhase::kWaiting;
  std::string reason;  // for people: "cannot reach 10.0.0.2:9092, trying again"

  friend bool operator==(const StreamState&, const StreamState&) = default;
};

// Counts of a stream's samples.
struct StreamCounts {
  std::int64_t delivered = 0;
  std::int64_t undecodable = 0;  // skipped, with their positions
  std::int64_t duplicates = 0;   // received again and dropped
  std::int64_t missing = 0;      // positions that never came: lost, or no longer stored by the broker

  friend bool operator==(const StreamCounts&, const StreamCounts&) = default;
};

// Limits of one Poll, so that its time and memory do not grow with the backlog.
struct PollLimits {
  std::size_t samples = 1024;
  Bytes bytes{16'000'000};  // The sample that exceeds it is still delivered.
  // Maximum real time to wait for the first sample. A stream on a virtual clock never waits.
  Duration wait{0};
};

// The source of a device's samples.
//
//   1. Seek before the first Poll and on request of the coordinator: applied samples are not delivered again.
//   2. Poll while there is room for samples. Each is delivered once, in the order of positions.
//   3. Commit permanently applied positions from time to time. Commits lag behind, because a stream can seek
//      forward from a late commit, but not back to positions committed too early.
//
// Bytes from a broker are not trusted: undecodable ones are counted and skipped. Failures of a broker are not
// errors of Poll, but a state(). Not thread-safe.
class Stream {
 public:
  virtual ~Stream() = default;

  // Appends the samples that arrived by `now` to `out`.
  virtual void Poll(TimePoint now, const PollLimits& limits, std::vector<StreamSample>& out) = 0;

  // Continues with the first sample at or after `position`. InvalidArgument for a negative position. A
  // position that is no longer stored is not an error: the lost samples count as missing.
  virtual Status Seek(std::int64_t position) = 0;

  // Positions up to and including `position` will not be requested again.
  virtual void Commit(std::int64_t position) = 0;

  virtual StreamState state() const = 0;
  // A sentence about the state, for people: once after each change.
  virtual std::optional<std::string> TakeNews() = 0;

  virtual StreamCounts counts() const = 0;

  // Closes connections after sending pending commits; then kStopped. The destructor does this too.
  virtual void Close() = 0;
};

// A stream's state and whether it was reported. Thread-safe.
class StreamStatus {
 public:
  // `what` begins every sentence: "stream pi-1".
  StreamStatus(std::string what, StreamState first)
      : what_(std::move(what)), state_(std::move(first)), fresh_(state_.phase == StreamPhase::kWaiting) {}

  // Only a change of phase is news, not another reason for the same phase; but the first reason for the
  // initial wait is news. A stopped stream stays stopped.
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
  bool fresh_ TRIBUTARY_GUARDED_BY(mutex_);         // in the initial wait, without a reason yet
  bool news_ TRIBUTARY_GUARDED_BY(mutex_) = false;  // not reported yet
};

// Context of a custom stream, for one device.
struct StreamScene {
  DeviceId device;
  std::uint64_t seed = 0;  // of the experiment
  // The required format; other samples are not used.
  SampleFormat format;
  // The device's own samples, as indices into the data set. A stream may deliver these or others.
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> part;
  SamplesPerSecond rate;  // stream-rate of the device's group; 0 if none
  TimePoint start{0};     // start of the stream's time, on the clock of Poll
  std::string argument;   // the text after the colon of NAME:ARGUMENT
};

// Creates a stream. Called once per device at the start of a run, on one thread.
//
// In a simulation, Poll receives non-decreasing virtual times, also ahead of the simulator's own time, and
// StreamSample::produced must be the arrival time on that clock, in ascending order. Such a stream is a
// function of the scene and time, and never waits. On a real device Poll receives real times.
using StreamMaker = std::function<StatusOr<std::unique_ptr<Stream>>(const StreamScene&)>;

}  // namespace tributary::inline data
