#include "tributary/fleet/simulated/event_queue.h"

#include <algorithm>
#include <limits>

#include "tributary/base/check.h"

namespace tributary::inline simulated {

constexpr std::size_t kChildren = 4;
// With fewer outdated places, tidying up costs more than it saves.
constexpr std::size_t kOutdatedAlwaysAllowed = 64;

EventId EventQueue::Insert(TimePoint time, const Slot& stored) {
  TRIBUTARY_CHECK(time >= clock_.Now());
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    TRIBUTARY_CHECK(slots_.size() < std::numeric_limits<std::uint32_t>::max());
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(stored);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = stored;
  }
  const Place place{time, ++last_sequence_, slot};
  slots_[slot].sequence = place.sequence;
  ++live_;

  std::size_t position = heap_.size();
  heap_.push_back(place);
  while (position > 0) {
    const std::size_t parent = (position - 1) / kChildren;
    if (!place.Before(heap_[parent])) break;
    heap_[position] = heap_[parent];
    position = parent;
  }
  heap_[position] = place;
  return {place.sequence, slot};
}

void EventQueue::SiftDown(std::size_t position) {
  const Place place = heap_[position];
  const std::size_t size = heap_.size();
  while (true) {
    const std::size_t first = position * kChildren + 1;
    if (first >= size) break;
    std::size_t smallest = first;
    const std::size_t end = std::min(first + kChildren, size);
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].Before(heap_[smallest])) smallest = child;
    }
    if (!heap_[smallest].Before(place)) break;
    heap_[position] = heap_[smallest];
    position = smallest;
  }
  heap_[position] = place;
}

void EventQueue::RemoveFirst() {
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown(0);
}

void EventQueue::Free(std::uint32_t slot) {
  slots_[slot].sequence = 0;
  free_slots_.push_back(slot);
  --live_;
}

bool EventQueue::Cancel(EventId id) {
  if (id.sequence == 0 || id.slot >= slots_.size() || slots_[id.slot].sequence != id.sequence) return false;
  Free(id.slot);
  TidyUp();
  return true;
}

// The kept places do not depend on their positions and have a total order, so tidying up never changes what
// runs. It removes more places than it keeps: amortised, cancellations pay for it.
void EventQueue::TidyUp() {
  if (heap_.size() <= 2 * live_ + kOutdatedAlwaysAllowed) return;
  std::erase_if(heap_, [&](const Place& place) { return slots_[place.slot].sequence != place.sequence; });
  for (std::size_t i = heap_.size() / kChildren + 1; i-- > 0;) {
    if (i < heap_.size()) SiftDown(i);
  }
}

void EventQueue::DropOutdated() {
  while (!heap_.empty() && slots_[heap_.front().slot].sequence != heap_.front().sequence) RemoveFirst();
}

std::optional<TimePoint> EventQueue::NextTime() {
  DropOutdated();
  if (heap_.empty()) return std::nullopt;
  return heap_.front().time;
}

bool EventQueue::RunNext() {
  DropOutdated();
  if (heap_.empty()) return false;
  const Place next = heap_.front();
  RemoveFirst();
  // A copy: the action may schedule events, which reallocates slots and reuses this one.
  Slot slot = slots_[next.slot];
  Free(next.slot);
  TidyUp();
  clock_.AdvanceTo(next.time);
  slot.invoke(slot.action.data());
  return true;
}

}  // namespace tributary::inline simulated
