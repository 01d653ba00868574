#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/fleet/device_work.h"
#include "tributary/fleet/protocol/coverage.h"
#include "tributary/fleet/protocol/meeting_room.h"
#include "tributary/fleet/protocol/segments.h"

namespace tributary::inline protocol {

// An assignment with its incoming weights and its outgoing update. The working thread owns the assignment,
// the update's plan and its sender; the inbox owns the rest.
struct DeviceJob {
  // `piece`: maximum length of a piece.
  DeviceJob(const Assignment& assignment, const DeviceWork& work, std::size_t piece, TimePoint now);
  DeviceJob(const DeviceJob&) = delete;
  DeviceJob& operator=(const DeviceJob&) = delete;

  // Fails if the assignment's plans do not fit this network.
  Status Plan(const DeviceWork& work);
  bool complete() const {
    return assignment.without_weights || (parameters.complete() && statistics.complete());
  }

  const Assignment assignment;
  const PieceGrid parameters_grid, statistics_grid;
  Coverage parameters{parameters_grid}, statistics{statistics_grid};
  std::optional<SegmentArrivals> arrivals;  // if the network has units
  TransferPlan push;
  std::optional<SegmentSender> sender;  // during training for an update
  std::vector<std::byte> samples;       // of other devices, received so far
  bool weights_begun = false;           // which implies that all samples have arrived
  // Split networks: the expected reply, and what has arrived of it.
  int crossing = 0;
  std::size_t expected = 0;
  std::vector<std::byte> crossed;
  const TimePoint begun;
  TimePoint complete_at;
};

// The coordinator's messages to a device in one session, checked and kept until the device reads them.
//
// Receive is for the receiving thread; LookAgain and over for any thread, the rest for the working thread.
// Waits return Unavailable when the stream is broken. The `stop` flag is polled several times a second.
class DeviceInbox {
 public:
  struct Options {
    std::function<bool()> alive;                  // whether the stream still carries messages
    std::function<bool()> stop;                   // may be empty
    std::function<void(const std::string&)> say;  // for people
  };
  // All references must outlive it.
  DeviceInbox(Options options, DeviceWork& work, MeetingRoom& room, const Clock& clock)
      : options_(std::move(options)), work_(work), room_(room), clock_(clock) {}

  // False: pass the message again, before any other, once EndJob returns true. A Status is a protocol error.
  StatusOr<bool> Receive(const ToDevice& message, ByteSpan values);
  // Call when the result of `alive` may have changed.
  void LookAgain();

  // Joining. Nothing, or false, if the device is to stop instead.
  StatusOr<std::optional<Welcome>> AwaitWelcome();
  StatusOr<bool> AwaitPong(std::uint64_t nonce);
  // Assignments may arrive from now on.
  void AllowWork();

  // Working: AwaitWork, then the transfers of the job, then EndJob.
  struct Work {
    DeviceJob* job = nullptr;  // valid until EndJob or DropJob
    std::optional<Farewell> farewell;
  };
  // Empty if the device is to stop instead.
  StatusOr<Work> AwaitWork();
  // False if the job is over instead.
  bool AwaitUnit(std::size_t unit);
  // Cancelled if the job is over instead.
  Status AwaitWeights();
  StatusOr<std::vector<std::byte>> AwaitSamples();
  // Announces a reply of `bytes` bytes to a crossing; AwaitCrossing then waits for it.
  void ExpectCrossing(int crossing, std::size_t bytes);
  StatusOr<std::vector<std::byte>> AwaitCrossing(std::size_t bytes);
  // Whether there is a verdict on the job, the stream is broken, or the device is to stop.
  bool over() const;
  // Fills in the transfer times of the job.
  void Describe(Answer& answer) const;
  // The device reports that it cannot do the job: no verdict will come.
  void MarkFailed();
  // After the verdict weights may arrive again. False if the device is to stop instead.
  StatusOr<bool> AwaitVerdict();
  std::optional<Verdict> verdict() const;
  // Returns whether a message was held back and is to be passed to Receive again.
  bool EndJob();
  // Discards the job at the end of a session.
  void DropJob();

 private:
  // Waits until `done`, called with the lock held, returns true. False if the device is to stop.
  StatusOr<bool> Await(MutexLock& lock, const std::function<bool()>& done) TRIBUTARY_REQUIRES(mutex_);
  void Pause(MutexLock& lock) TRIBUTARY_REQUIRES(mutex_);
  bool Ended() const TRIBUTARY_REQUIRES(mutex_);
  bool stopping() const { return options_.stop && options_.stop(); }
  DeviceJob* JobOf(std::uint64_t ticket) TRIBUTARY_REQUIRES(mutex_);

  // Sets holding_ if the message cannot be accepted yet.
  Status Take(const Welcome& welcome, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Pong& pong, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Assignment& assignment, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Piece& piece, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Samples& samples, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Crossing& crossing, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Verdict& verdict, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Farewell& farewell, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  // The session checks it before the coordinator is heard (DeviceSession).
  static Status Take(const RevocationNotice&, ByteSpan) { return OkStatus(); }
  template <typename Message>  // of meetings
  Status Take(const Message& message, ByteSpan values) TRIBUTARY_REQUIRES(mutex_) {
    return room_.Handle(message, values);
  }
  Status Place(DeviceJob& job, const Piece& piece, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);

  const Options options_;
  DeviceWork& work_;
  MeetingRoom& room_;
  const Clock& clock_;

  mutable Mutex mutex_;
  Condition changed_;
  std::optional<Welcome> welcome_ TRIBUTARY_GUARDED_BY(mutex_);
  bool ready_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  std::optional<Farewell> farewell_ TRIBUTARY_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> pong_ TRIBUTARY_GUARDED_BY(mutex_);
  std::unique_ptr<DeviceJob> next_ TRIBUTARY_GUARDED_BY(mutex_);     // the next assignment
  std::unique_ptr<DeviceJob> current_ TRIBUTARY_GUARDED_BY(mutex_);  // the one being worked on
  std::optional<Verdict> verdict_ TRIBUTARY_GUARDED_BY(mutex_);      // on the current job
  bool failed_ TRIBUTARY_GUARDED_BY(mutex_) = false;   // current job reported as failed: no verdict will come
  bool holding_ TRIBUTARY_GUARDED_BY(mutex_) = false;  // a message was held back
};

}  // namespace tributary::inline protocol
