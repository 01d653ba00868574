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

inline constexpr TimePoint kNever = TimePoint::max();  // the time of events that never happen

// Identifies a scheduled event, for cancelling it. Never reused within a queue.
struct EventId {
  std::uint64_t sequence = 0;  // 0: no event
  std::uint32_t slot = 0;
};

// The pending events of a virtual clock, and the only user that advances that clock.
//
// Events run in order of time, and at equal times in the order of scheduling. Actions may schedule and cancel
// events, also at the present time; these run after those already due. Scheduling in the past is a bug.
//
// An action is a trivially copyable callable of up to 32 bytes, for example a lambda that captures pointers.
// It is stored in the queue, without allocation. The place of a cancelled event stays until its time comes,
// or until such places outnumber the pending events, so memory stays proportional to these.
//
// Not thread-safe. The clock must outlive the queue.
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

  // False if the event has run or was cancelled.
  bool Cancel(EventId id);

  std::optional<TimePoint> NextTime();
  // Advances the clock to the next event and runs it. False if there is none.
  bool RunNext();

  std::size_t size() const { return live_; }
  // Places of pending and cancelled events: at most about twice size().
  std::size_t places() const { return heap_.size(); }

 private:
  static constexpr std::size_t kActionBytes = 32;

  struct Slot {
    std::uint64_t sequence = 0;  // of the event in this slot; 0 if free
    void (*invoke)(std::byte*) = nullptr;
    alignas(std::max_align_t) std::array<std::byte, kActionBytes> action;
  };
  // Outdated if its slot belongs to another event by now.
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
  // A 4-ary heap: half the levels of a binary one, and one or two cache lines per node.
  std::vector<Place> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::size_t live_ = 0;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace tributary::inline simulated
