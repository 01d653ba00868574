#include "tributary/device/layer_timing.h"

#include <algorithm>

#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/model/initialise.h"

namespace tributary::inline device {

LayerStopwatch::LayerStopwatch(std::size_t units, const Clock& clock) : clock_(clock) {
  times_.forward.assign(units, Duration(0));
  times_.backward.assign(units, Duration(0));
}

void LayerStopwatch::Begin() {
  std::ranges::fill(times_.forward, Duration(0));
  std::ranges::fill(times_.backward, Duration(0));
  since_ = clock_.Now();
  unit_.reset();
}

// Time between two units counts for the first of them; time before any unit for the first unit.
void LayerStopwatch::BeforeForward(std::size_t unit) {
  const TimePoint now = clock_.Now();
  times_.forward[unit_.value_or(unit)] += now - since_;
  unit_ = unit;
  since_ = now;
}

void LayerStopwatch::ForwardDone() {
  const TimePoint now = clock_.Now();
  if (unit_) times_.forward[*unit_] += now - since_;
  since_ = now;
}

void LayerStopwatch::GradientReady(std::size_t unit) {
  const TimePoint now = clock_.Now();
  times_.backward[unit] += now - since_;
  since_ = now;
}

StatusOr<LayerTimes> MeasureLayers(const std::shared_ptr<const Model>& model, std::size_t batch, int repeats,
                                   const Clock& clock) {
  FlatBuffer parameters(model->parameters.size), statistics(model->statistics.size),
      gradients(model->parameters.size);
  InitialiseWeights(*model, 1, parameters.span(), statistics.span());
  Executor executor(model, {parameters.span(), statistics.span(), gradients.span()});
  const Shape& input = model->graph.input_shape();
  Rng rng(1);
  std::vector<float> inputs(batch * static_cast<std::size_t>(input.elements()));
  for (float& value : inputs) value = static_cast<float>(Normal(rng));
  const std::vector<std::int32_t> labels(batch, 0);

  const std::size_t units = model->units.size();
  LayerStopwatch stopwatch(units, clock);
  std::vector<std::vector<Duration>> forward(units), backward(units);
  for (int i = 0; i <= repeats; ++i) {
    PassOptions options;
    options.rng = &rng;
    options.hooks.before_forward = [&](std::size_t unit) {
      stopwatch.BeforeForward(unit);
      return true;
    };
    options.hooks.forward_done = [&](double) { stopwatch.ForwardDone(); };
    options.hooks.gradient_ready = [&](std::size_t unit) { stopwatch.GradientReady(unit); };
    stopwatch.Begin();
    TRIBUTARY_RETURN_IF_ERROR(executor.Train({inputs, labels}, options).status());
    if (i == 0) continue;  // warm-up
    for (std::size_t unit = 0; unit < units; ++unit) {
      forward[unit].push_back(stopwatch.times().forward[unit]);
      backward[unit].push_back(stopwatch.times().backward[unit]);
    }
  }
  const auto median = [](std::vector<Duration>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  LayerTimes times;
  for (std::size_t unit = 0; unit < units; ++unit) {
    times.forward.push_back(median(forward[unit]));
    times.backward.push_back(median(backward[unit]));
  }
  return times;
}

}  // namespace tributary::inline device
