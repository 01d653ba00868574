#pragma once

#include <chrono>
#include <memory>

namespace tributary::inline base {

// Time since an origin chosen by the clock: its creation for a real clock, zero for a virtual one.
using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::nanoseconds;

// The only source of time. Code that needs the time takes a Clock and never reads the system clock, so that
// it also runs on a simulator's virtual time.
class Clock {
 public:
  virtual ~Clock() = default;

  // Never decreases. Thread-safe.
  virtual TimePoint Now() const = 0;
};

// The machine's monotonic clock.
std::unique_ptr<Clock> MakeRealClock();

// A clock that only AdvanceTo moves; moving it backwards is a bug. Not synchronised: the simulator advances
// it between the events that read it.
class VirtualClock : public Clock {
 public:
  TimePoint Now() const override { return now_; }
  void AdvanceTo(TimePoint time);

 private:
  TimePoint now_{0};
};

// Conversion to and from seconds. FromSeconds rounds to the nearest nanosecond.
double ToSeconds(Duration duration);
Duration FromSeconds(double seconds);

}  // namespace tributary::inline base
