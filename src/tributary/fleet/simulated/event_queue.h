#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include "tributary/base/clock.h"

namespace tributary::inline simulated {

// A moment that does not come: what is due then never happens.
inline constexpr TimePoint kNever = TimePoint::max();

// Names one scheduled event, for cancelling it. Never used again for another event of the same queue.
struct EventId {
  std::uint64_t sequence = 0;  // Zero names no event.
  std::uint32_t slot = 0;
};

// What is going to happen on a virtual clock, and the only thing that moves that clock.
//
// Events run in order of time; those of the same time run in the order in which they were scheduled, so that a
// simulation is a function of what was scheduled and nothing else. An action may schedule and cancel events, at the
// present moment too (they then run after those that were already due); scheduling in the past is a bug.
//
// An action is any callable of up to 32 bytes that may be copied as bytes: a lambda that captures pointers and
// numbers. It is kept inside the queue, so that an event costs no allocation; what is larger lives elsewhere and is
// pointed to. A cancelled event leaves a place in the queue behind until its time comes, or until such places
// outnumber the events that are still due; memory stays proportional to the latter.
//
// For one thread. The clock must outlive the queue.
class EventQueue {
 public:
  explicit EventQueue(VirtualClock& clock) : clock_(clock) {}

  template <typename Action>
  EventId Schedule(TimePoint time, Action action) {
    static_assert(std::is_trivially_copyable_v<Action> && std::is_trivially_destructible_v<Action>,
                  "capture pointers and numbers, by value");
    static_assert(sizeof(Action) <= kActionBytes && alignof(Action) <= alignof(std::max_align_t));
    Slot stored;
    stored.invoke = [](std::byte* bytes) { (*std::launder(reinterpret_cast<Action*>(bytes)))(); };
    ::new (static_cast<void*>(stored.action.data())) Action(action);
    return Insert(time, stored);
  }

  // False when the event has run or was cancelled before.
  bool Cancel(EventId id);

  // When the next event is due.
  std::optional<TimePoint> NextTime();
  // Moves the clock to the next event and runs it. False when there is none.
  bool RunNext();
  // Runs everything due up to and including `time`, also what is scheduled meanwhile, and leaves the clock at `time`.
  void RunUntil(TimePoint time);

  // Events still due.
  std::size_t size() const { return live_; }
  // Places taken by those and by what was cancelled: never more than twice as many, and a few.
  std::size_t places() const { return heap_.size(); }

 private:
  static constexpr std::size_t kActionBytes = 32;

  struct Slot {
    std::uint64_t sequence = 0;  // Of the event that lives here; zero while the slot is free.
    void (*invoke)(std::byte*) = nullptr;
    alignas(std::max_align_t) std::array<std::byte, kActionBytes> action;
  };
  // A place in the queue is out of date when its slot has gone on to another event.
  struct Place {
    TimePoint time;
    std::uint64_t sequence;
    std::uint32_t slot;

    bool Before(const Place& other) const {
      return time != other.time ? time < other.time : sequence < other.sequence;
    }
  };

  EventId Insert(TimePoint time, const Slot& stored);
  void DropOutdated();
  void TidyUp();
  void RemoveFirst();
  void SiftDown(std::size_t position);
  void Free(std::uint32_t slot);

  VirtualClock& clock_;
  // Four children to a place: half the levels of a binary heap, and one or two cache lines each.
  std::vector<Place> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::size_t live_ = 0;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace tributary::inline simulated
