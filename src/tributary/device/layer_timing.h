#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/engine/executor.h"

namespace tributary::inline device {

// Compute time of each transfer unit, in execution order. A layer without parameters counts for the unit
// before it; layers before the first unit count for the first.
struct LayerTimes {
  std::vector<Duration> forward;
  std::vector<Duration> backward;
};

// Measures training steps on random samples per unit, on the compute threads that are set: the median of
// `repeats`, after a warm-up.
StatusOr<LayerTimes> MeasureLayers(const std::shared_ptr<const Model>& model, std::size_t batch, int repeats,
                                   const Clock& clock);

// Collects unit times of a pass from its hooks: Begin, then one call per hook. Time between BeforeForward and
// Go belongs to the caller and is not counted.
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
  std::optional<std::size_t> unit_;  // in its forward pass
  LayerTimes times_;
};

}  // namespace tributary::inline device
