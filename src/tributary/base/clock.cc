#include "tributary/base/clock.h"

#include <cmath>

#include "tributary/base/check.h"

namespace tributary::inline base {
namespace {

class RealClock : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now() - start_; }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<Clock> MakeRealClock() { return std::make_unique<RealClock>(); }

void VirtualClock::AdvanceTo(TimePoint time) {
  TRIBUTARY_CHECK(time >= now_);
  now_ = time;
}

double ToSeconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }

Duration FromSeconds(double seconds) { return Duration(std::llround(seconds * 1e9)); }

}  // namespace tributary::inline base
