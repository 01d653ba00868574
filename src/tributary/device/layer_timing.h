#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/engine/executor.h"

namespace tributary::inline device {

// What each transfer unit of a network costs to compute, in the order of execution. Layers without parameters count for
// the unit before them, those before the first unit for the first.
struct LayerTimes {
  std::vector<Duration> forward;
  std::vector<Duration> backward;
};

// Measures training steps on this machine, on made-up samples: the median of `repeats` after a warm-up, unit by unit.
// Uses as many compute threads as are set.
StatusOr<LayerTimes> MeasureLayers(const std::shared_ptr<const Model>& model, std::size_t batch, int repeats,
                                   const Clock& clock);

// Collects the times of a pass from its caller: Begin, then what its hooks say, in their order. The time between
// BeforeForward and Go is the caller's and is not counted.
class LayerStopwatch {
 public:
  LayerStopwatch(std::size_t units, const Clock& clock);

  void Begin();
  void BeforeForward(std::size_t unit);
  void Go() { since_ = clock_.Now(); }
  void ForwardDone();
  void GradientReady(std::size_t unit);
  const LayerTimes& times() const { return times_; }

 private:
  const Clock& clock_;
  TimePoint since_{0};
  std::optional<std::size_t> unit_;  // that is going forward
  LayerTimes times_;
};

}  // namespace tributary::inline device
