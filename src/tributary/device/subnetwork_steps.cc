#include "tributary/device/subnetwork_steps.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline device {
namespace {

constexpr auto kParameters = SubnetworkMap::Part::kParameters;

std::span<float> UnitOf(const Layout& layout, std::size_t unit, std::span<float> values) {
  return values.subspan(layout.units[unit].offset, layout.units[unit].count);
}

}  // namespace

SubnetworkSteps::SubnetworkSteps(std::shared_ptr<const Model> whole, FilterScaling scaling,
                                 ExecutorOptions options)
    : whole_(std::move(whole)), scaling_(scaling), networks_(whole_, scaling, options) {}

Executor& SubnetworkSteps::Begin(const KeptAtoms& kept) {
  network_ = &networks_.Of(kept);
  optimiser_.reset();
  return network_->executor();
}

void SubnetworkSteps::Place(std::size_t unit, std::span<const float> parameters,
                            std::span<const float> statistics) {
  network_->Gather(unit, parameters, statistics);
}

void SubnetworkSteps::PutStatistics(std::span<float> statistics) {
  network_->map().ScatterAll(SubnetworkMap::Part::kStatistics, network_->statistics(), statistics);
}

void SubnetworkSteps::PutGradient(std::size_t unit, std::span<float> gradients) {
  network_->Uncompensate(unit);
  std::ranges::fill(UnitOf(whole_->parameters, unit, gradients), 0.0F);
  network_->map().Scatter(kParameters, unit, network_->gradients(), gradients);
}

Status SubnetworkSteps::BeginUpdate(const OptimiserOptions& options, Optimiser& whole, double learning_rate) {
  TRIBUTARY_ASSIGN_OR_RETURN(optimiser_, MakeOptimiser(options, network_->parameters().size()));
  // A step counts for all channels.
  optimiser_->set_steps(whole.steps());
  optimiser_->BeginStep(learning_rate);
  whole.set_steps(optimiser_->steps());
  return OkStatus();
}

void SubnetworkSteps::Update(std::size_t unit, Optimiser& whole, double prox, std::span<const float> origin,
                             std::span<float> parameters) {
  TRIBUTARY_CHECK(optimiser_ != nullptr);
  network_->Uncompensate(unit);
  const SubnetworkMap& map = network_->map();
  const Layout& layout = network_->model().parameters;
  const std::span<float> mine = UnitOf(layout, unit, network_->parameters());
  const std::span<float> gradients = UnitOf(layout, unit, network_->gradients());
  if (prox > 0) {
    origin_.resize(network_->parameters().size());
    map.Gather(kParameters, unit, origin, origin_);
    const auto towards = UnitOf(layout, unit, std::span(origin_));
    for (std::size_t i = 0; i < mine.size(); ++i)
      gradients[i] += static_cast<float>(prox) * (mine[i] - towards[i]);
  }
  const auto of_whole = whole.State();
  const auto of_subnetwork = optimiser_->State();
  for (std::size_t i = 0; i < of_subnetwork.size(); ++i)
    map.Gather(kParameters, unit, of_whole[i].values, of_subnetwork[i].values);
  optimiser_->StepRange(layout.units[unit].offset, mine, gradients);
  for (std::size_t i = 0; i < of_subnetwork.size(); ++i)
    map.Scatter(kParameters, unit, of_subnetwork[i].values, of_whole[i].values);
  map.Scatter(kParameters, unit, network_->parameters(), parameters);
}

}  // namespace tributary::inline device
