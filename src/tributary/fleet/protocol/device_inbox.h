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

// An assignment, its weights while they come in, and its update while it goes out. The assignment, the plan of the update
// and its sender are the working thread's; the rest belongs to the inbox.
struct DeviceJob {
  // Pieces are cut at multiples of a length, and where layers begin.
  DeviceJob(const Assignment& assignment, const DeviceWork& work, std::size_t piece, TimePoint now);
  DeviceJob(const DeviceJob&) = delete;
  DeviceJob& operator=(const DeviceJob&) = delete;

  // A plan must be one for this network.
  Status Plan(const DeviceWork& work);
  bool complete() const {
    return assignment.without_weights || (parameters.complete() && statistics.complete());
  }

  const Assignment assignment;
  const PieceGrid parameters_grid, statistics_grid;
  Coverage parameters{parameters_grid}, statistics{statistics_grid};
  std::optional<SegmentArrivals> arrivals;  // where there are units
  TransferPlan push;
  std::optional<SegmentSender> sender;  // while an update is made
  std::vector<std::byte> samples;       // of others, as far as they have come
  bool weights_begun = false;           // so that all of those are there
  // Over a network's cut: what is expected to come back, and has.
  int crossing = 0;
  std::size_t expected = 0;
  std::vector<std::byte> crossed;
  const TimePoint begun;
  TimePoint complete_at;
};

// What the coordinator has said to a device in one session, checked, and waiting for it.
//
// Receive is for the thread that messages come on, LookAgain and over for any, the others for the one that works. Waits
// end with Unavailable when the stream does not carry messages any more. Messages and the end of the stream are announced;
// `stop` is a flag, which is looked at several times a second.
class DeviceInbox {
 public:
  struct Options {
    std::function<bool()> alive;                  // whether the stream still carries messages
    std::function<bool()> stop;                   // may be empty
    std::function<void(const std::string&)> say;  // for people
  };
  // Everything must outlive it.
  DeviceInbox(Options options, DeviceWork& work, MeetingRoom& room, const Clock& clock)
      : options_(std::move(options)), work_(work), room_(room), clock_(clock) {}

  // False: the message cannot be taken before EndJob says so; no other may come until it has come again. A Status is
  // against the protocol.
  StatusOr<bool> Receive(const ToDevice& message, ByteSpan values);
  // Whether the stream is alive may have changed.
  void LookAgain();

  // Joining. Nothing, or false, if the device is to stop instead.
  StatusOr<std::optional<Welcome>> AwaitWelcome();
  StatusOr<bool> AwaitPong(std::uint64_t nonce);
  // From now on there may be work.
  void AllowWork();

  // Work: a job, then what it waits for, then its end.
  struct Work {
    DeviceJob* job = nullptr;  // until EndJob or DropJob
    std::optional<Farewell> farewell;
  };
  // Neither, if the device is to stop instead.
  StatusOr<Work> AwaitWork();
  // False if the job is over instead.
  bool AwaitUnit(std::size_t unit);
  // Cancelled if the job is over instead.
  Status AwaitWeights();
  StatusOr<std::vector<std::byte>> AwaitSamples();
  // So many bytes come back over the cut; then waits for them.
  void ExpectCrossing(int crossing, std::size_t bytes);
  StatusOr<std::vector<std::byte>> AwaitCrossing(std::size_t bytes);
  // There is a verdict on the job, the stream is broken, or the device is to stop.
  bool over() const;
  // What this side knows of the transfers of the job.
  void Describe(Answer& answer) const;
  // The device says that it cannot do the job: no verdict will come.
  void MarkFailed();
  // The verdict also says that weights may come again. False if the device is to stop instead.
  StatusOr<bool> AwaitVerdict();
  std::optional<Verdict> verdict() const;
  // Returns whether a message was not taken and is to come again.
  bool EndJob();
  // At the end of a session, whatever is under way.
  void DropJob();

 private:
  // Until `done`, which is asked with the lock held, and no more once it has said yes. False if the device is to stop.
  StatusOr<bool> Await(MutexLock& lock, const std::function<bool()>& done) TRIBUTARY_REQUIRES(mutex_);
  void Pause(MutexLock& lock) TRIBUTARY_REQUIRES(mutex_);
  bool Ended() const TRIBUTARY_REQUIRES(mutex_);
  bool stopping() const { return options_.stop && options_.stop(); }
  DeviceJob* JobOf(std::uint64_t ticket) TRIBUTARY_REQUIRES(mutex_);

  // A message that is not taken yet is held.
  Status Take(const Welcome& welcome, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Pong& pong, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Assignment& assignment, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Piece& piece, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Samples& samples, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Crossing& crossing, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Verdict& verdict, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
  Status Take(const Farewell& farewell, ByteSpan values) TRIBUTARY_REQUIRES(mutex_);
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
  std::optional<Verdict> verdict_ TRIBUTARY_GUARDED_BY(mutex_);      // on that one
  bool failed_ TRIBUTARY_GUARDED_BY(mutex_) = false;   // at that one, and has said so: no verdict will come
  bool holding_ TRIBUTARY_GUARDED_BY(mutex_) = false;  // a message was not taken
};

}  // namespace tributary::inline protocol
