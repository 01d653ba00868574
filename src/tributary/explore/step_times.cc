#include "tributary/explore/step_times.h"

#include <algorithm>

#include "tributary/base/distributions.h"
#include "tributary/model/initialise.h"
#include "tributary/model/kept_counts.h"
#include "tributary/policy/dropout/thin_cost.h"

namespace tributary {
namespace {

constexpr std::size_t kMeasured = 24;
constexpr std::size_t kRepeats = 3;

}  // namespace

CostFeatures FeaturesOfBatch(CostFeatures of_one, std::size_t batch) {
  const auto samples = static_cast<double>(batch);
  return {of_one.macs * samples, of_one.activations * samples};
}

StatusOr<CostModel> MeasureStepTimes(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                     const Clock& clock, const std::function<bool()>& should_stop) {
  Rng rng = Rng::ForStream(options.seed, DeviceId{}, "step times");
  const std::size_t groups = model->channels.groups.size();
  std::vector<std::vector<std::int64_t>> those = {
      KeptCounts(model->channels, std::vector<double>(groups, 0))};
  while (those.size() < kMeasured)
    those.push_back(KeptCounts(model->channels, RatesAroundALevel(groups, kHighestRate, rng)));

  const Shape& shape = model->graph.input_shape();
  std::vector<float> inputs(options.batch * static_cast<std::size_t>(shape.elements()));
  for (float& value : inputs) value = static_cast<float>(Normal(rng));
  std::vector<std::int32_t> labels(options.batch);
  for (std::int32_t& label : labels) {
    label = static_cast<std::int32_t>(rng.Below(static_cast<std::uint64_t>(model->graph.classes())));
  }

  Snapshot weights(*model);
  InitialiseWeights(*model, options.seed, weights.parameters.span(), weights.statistics.span());
  ThinTraining training(model, options);
  std::vector<std::vector<double>> seconds(those.size());
  for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
    for (std::size_t i = 0; i < those.size(); ++i) {
      if (should_stop && should_stop()) return Cancelled("the measurement of steps was interrupted");
      training.Begin(weights);
      training.Keep(those[i]);
      // The first step pays for memory and code that later ones find in place.
      TRIBUTARY_RETURN_IF_ERROR(training.Step({inputs, labels}, rng).status());
      const TimePoint start = clock.Now();
      TRIBUTARY_RETURN_IF_ERROR(training.Step({inputs, labels}, rng).status());
      seconds[i].push_back(ToSeconds(clock.Now() - start));
    }
  }
  const ThinCosts costs(*model);
  std::vector<CostMeasurement> measurements;
  for (std::size_t i = 0; i < those.size(); ++i) {
    std::ranges::sort(seconds[i]);
    measurements.push_back(
        {FeaturesOfBatch(costs.FeaturesOf(those[i]), options.batch), seconds[i][seconds[i].size() / 2]});
  }
  return FitCostModel(measurements);
}

}  // namespace tributary
