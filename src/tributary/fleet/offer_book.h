#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline fleet {

// The model that a device offers to its neighbours in a meeting, the gossip exchange of one round.
//
//   1. Announce: the meeting is known, and its model is being trained
//   2. Offer: the model is available until the next meeting is announced
//
// Thread-safe. In bytes, a model is its parameters followed by its statistics.
class OfferBook {
 public:
  // Begins a meeting, possibly one that was begun before. The previous offer is withdrawn when this returns.
  void Announce(const MeetingPlan& meeting) { SetMeeting(meeting); }
  // The values must not change until the next Announce or Withdraw. Ignored for other than the last meeting.
  void Offer(std::uint64_t meeting, const SharedWeights& model);
  // Ends the meeting.
  void Withdraw() { SetMeeting(std::nullopt); }

  enum class Standing {
    kOther,    // another meeting, or none
    kAwaited,  // the model is being trained
    kReady,
  };
  Standing Look(std::uint64_t meeting) const;
  // The number of announcements so far, to detect another one.
  std::uint64_t announced() const;
  // Waits while the model is awaited.
  Standing Await(std::uint64_t meeting, const std::stop_token& stop) const;
  // Refuses names that are not a neighbour's, and certificates other than the neighbour's known one.
  Status CheckGuest(const std::string& name, const std::string& certificate) const;

  std::size_t bytes() const;
  // Copies a part of the offered model and returns its version; nothing if not offered or too short.
  std::optional<std::uint64_t> Read(std::uint64_t meeting, std::size_t offset,
                                    std::span<std::byte> out) const;

  // Called after each change, outside mutex_. The previous listener is no longer running on return.
  void SetListener(std::function<void()> listener);

 private:
  Standing Find(std::uint64_t meeting) const TRIBUTARY_REQUIRES(mutex_);
  void SetMeeting(std::optional<MeetingPlan> meeting);
  void Tell() const;

  mutable Mutex mutex_;
  mutable Condition changed_;
  std::optional<MeetingPlan> meeting_ TRIBUTARY_GUARDED_BY(mutex_);
  std::optional<SharedWeights> model_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t version_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::uint64_t announced_ TRIBUTARY_GUARDED_BY(mutex_) = 0;

  mutable Mutex telling_;  // acquired before all other locks
  std::function<void()> listener_ TRIBUTARY_GUARDED_BY(telling_);
};

}  // namespace tributary::inline fleet
