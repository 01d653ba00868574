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

// The model that a device offers to those it meets, and who they are: one meeting at a time.
//
//   1. Announce: the meeting is known, and its model is being made
//   2. Offer: it is there, and stays until the next meeting is announced
//
// From any thread. As bytes a model is its parameters, then its statistics.
class OfferBook {
 public:
  // Begins a meeting, also one that was begun before; what was offered is not any more when this returns.
  void Announce(const MeetingPlan& meeting) { SetMeeting(meeting); }
  // The values must stay as they are until the next Announce or Withdraw. Of another meeting than the one announced last, it
  // is left aside.
  void Offer(std::uint64_t meeting, const SharedWeights& model);
  // There is no meeting.
  void Withdraw() { SetMeeting(std::nullopt); }

  enum class Standing {
    kOther,    // not this meeting's, or there is none
    kAwaited,  // it is being made
    kReady,
  };
  Standing Look(std::uint64_t meeting) const;
  // How many meetings have been announced: whether there was another since.
  std::uint64_t announced() const;
  // Waits while it is awaited.
  Standing Await(std::uint64_t meeting, const std::stop_token& stop) const;
  // Refused: a name that is not one of those to be met, and, where certificates are known, another than theirs.
  Status CheckGuest(const std::string& name, const std::string& certificate) const;

  std::size_t bytes() const;
  // Copies what is offered from `offset` on, and returns its version; or nothing, if it is not (any more) or is shorter.
  std::optional<std::uint64_t> Read(std::uint64_t meeting, std::size_t offset,
                                    std::span<std::byte> out) const;

  // Called, outside of any lock, after something has changed. None: no more calls, and none is running.
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

  mutable Mutex telling_;  // of all locks the first
  std::function<void()> listener_ TRIBUTARY_GUARDED_BY(telling_);
};

}  // namespace tributary::inline fleet
