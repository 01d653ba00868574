#include "tributary/explore/subnetwork_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/base/distributions.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/initialise.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline explore {
namespace {

constexpr std::size_t kMeasured = 24;
constexpr std::size_t kRepeats = 3;

}  // namespace

Status CheckExploreOptions(const ExploreOptions& options) {
  struct Bound {
    const char* what;
    std::size_t value, least, most;
  };
  for (const auto& [what, value, least, most] :
       {Bound{"vectors of the population", options.population, kLeastPopulation, 10'000},
        {"samples of a mini-batch", options.batch, 1, 65'536},
        {"mini-batches of an evaluation", options.steps, 1, 1'000'000},
        {"mini-batches of a screening", options.screening_steps, 1, options.steps},
        {"samples that are evaluated", options.samples, 1, 10'000'000},
        {"steps to the last snapshot", options.snapshot_steps, kSnapshots, 10'000'000},
        {"threads", options.threads, 1, 1024}}) {
    if (value >= least && value <= most) continue;
    return InvalidArgument(
        fmt::format("the number of {} must be from {} to {}, found {}", what, least, most, value));
  }
  if (const double rate = options.learning_rate; !(rate > 0 && rate <= 1000))
    return InvalidArgument(
        fmt::format("the learning rate must be above 0 and at most 1000, found {:g}", rate));
  if (const double momentum = options.momentum; !(momentum >= 0 && momentum < 1))
    return InvalidArgument(fmt::format("the momentum must be at least 0 and below 1, found {:g}", momentum));
  return OkStatus();
}

SubnetworkTraining::SubnetworkTraining(std::shared_ptr<const Model> model, const ExploreOptions& options)
    : model_(std::move(model)), options_(options), weights_(*model_) {}

void SubnetworkTraining::Begin(const Snapshot& from) {
  std::ranges::copy(from.parameters.span(), weights_.parameters.span().begin());
  std::ranges::copy(from.statistics.span(), weights_.statistics.span().begin());
  for (FlatBuffer& array : optimiser_state_) std::ranges::fill(array.span(), 0.0F);
}

void SubnetworkTraining::Keep(std::span<const std::int64_t> kept) {
  if (std::ranges::equal(kept_, kept)) return;
  kept_.assign(kept.begin(), kept.end());
  subnetwork_ =
      std::make_unique<Subnetwork>(model_, FirstAtoms(model_->channels, kept_),
                                   options_.scale_filters ? FilterScaling::kInverse : FilterScaling::kNone);
  optimiser_ = MakeOptimiser({.momentum = options_.momentum}, subnetwork_->parameters().size()).value();
  while (optimiser_state_.size() < optimiser_->State().size())
    optimiser_state_.emplace_back(model_->parameters.size);
}

StatusOr<double> SubnetworkTraining::Step(const BatchView& batch, Rng& chance) {
  if (options_.channels == ChannelChoice::kRandom)
    subnetwork_->Keep(RandomAtoms(model_->channels, kept_, chance));
  for (std::size_t unit = 0; unit < model_->units.size(); ++unit)
    subnetwork_->Gather(unit, weights_.parameters.span(), weights_.statistics.span());
  TRIBUTARY_ASSIGN_OR_RETURN(const PassResult result, subnetwork_->executor().Train(batch, {.rng = &chance}));
  for (std::size_t unit = 0; unit < model_->units.size(); ++unit) subnetwork_->Uncompensate(unit);

  using Part = SubnetworkMap::Part;
  const std::vector<Optimiser::StateArray> state = optimiser_->State();
  for (std::size_t i = 0; i < state.size(); ++i)
    subnetwork_->map().GatherAll(Part::kParameters, optimiser_state_[i].span(), state[i].values);
  optimiser_->Step(subnetwork_->parameters(), subnetwork_->gradients(), options_.learning_rate);
  for (std::size_t i = 0; i < state.size(); ++i)
    subnetwork_->map().ScatterAll(Part::kParameters, state[i].values, optimiser_state_[i].span());
  subnetwork_->map().ScatterAll(Part::kParameters, subnetwork_->parameters(), weights_.parameters.span());
  return result.loss;
}

std::vector<double> RatesAroundALevel(std::size_t groups, double highest, Rng& rng) {
  const double level = highest * rng.Uniform();
  std::vector<double> rates;
  for (std::size_t i = 0; i < groups; ++i)
    rates.push_back(std::clamp(level + 0.4 * (rng.Uniform() - 0.5), 0.0, kHighestRate));
  return rates;
}

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
  SubnetworkTraining training(model, options);
  std::vector<std::vector<double>> seconds(those.size());
  for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
    for (std::size_t i = 0; i < those.size(); ++i) {
      if (should_stop && should_stop()) return Cancelled("the measurement of steps was interrupted");
      training.Begin(weights);
      training.Keep(those[i]);
      // A warm-up step: allocations and code loading.
      TRIBUTARY_RETURN_IF_ERROR(training.Step({inputs, labels}, rng).status());
      const TimePoint start = clock.Now();
      TRIBUTARY_RETURN_IF_ERROR(training.Step({inputs, labels}, rng).status());
      seconds[i].push_back(ToSeconds(clock.Now() - start));
    }
  }
  const SubnetworkCosts costs(*model);
  std::vector<CostMeasurement> measurements;
  for (std::size_t i = 0; i < those.size(); ++i) {
    std::ranges::sort(seconds[i]);
    measurements.push_back(
        {FeaturesOfBatch(costs.FeaturesOf(those[i]), options.batch), seconds[i][seconds[i].size() / 2]});
  }
  return FitCostModel(measurements);
}

}  // namespace tributary::inline explore
