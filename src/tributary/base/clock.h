#pragma once

#include <chrono>
#include <memory>

namespace tributary::inline base {

// Time since some fixed moment of the clock's own: its start for a real clock, zero for a virtual one.
using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::nanoseconds;

// The only source of time. Whoever needs the time is handed a Clock; nothing reads the system's by itself, so that the
// same code runs in real time and on a simulator's virtual time.
class Clock {
 public:
  virtual ~Clock() = default;

  // Never decreases. Safe to call from any thread.
  virtual TimePoint Now() const = 0;
};

// The machine's monotonic clock.
std::unique_ptr<Clock> MakeRealClock();

// A clock that stands still until it is told to move. Only the simulator moves it; moving it backwards is a bug.
// Not synchronised: the simulator advances it between the events that read it.
class VirtualClock : public Clock {
 public:
  TimePoint Now() const override { return now_; }
  void AdvanceTo(TimePoint time);

 private:
  TimePoint now_{0};
};

// A duration as seconds, and back (rounded to the nearest nanosecond).
double ToSeconds(Duration duration);
Duration FromSeconds(double seconds);

}  // namespace tributary::inline base
