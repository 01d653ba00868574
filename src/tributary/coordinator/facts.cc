#include "tributary/coordinator/facts.h"

#include <algorithm>

namespace tributary {
namespace {

std::vector<std::string> MechanismsOf(const Experiment& experiment) {
  std::vector<std::string> names;
  const auto streams = [](const Group& group) { return !(group.stream_rate == Distribution::Constant(0)); };
  if (experiment.stream.recorded_speed || std::ranges::any_of(experiment.fleet.groups, streams))
    names.push_back("streams");
  if (experiment.dropout.method != DropoutMethod::kFull) names.push_back("dropout");
  if (experiment.compression.kind != CompressionKind::kDense) names.push_back("compression");
  if (experiment.transfers.strategy != TransferStrategy::kSequential) names.push_back("transfers");
  if (experiment.data.split.kind != "iid") names.push_back("partition");
  if (experiment.train.method == Method::kSplit) names.push_back("split");
  if (experiment.train.method == Method::kGossip) names.push_back("gossip");
  return names;
}

}  // namespace

RunFacts FactsOf(const Experiment& experiment, const Model& held, bool simulated) {
  RunFacts facts;
  facts.simulated = simulated;
  facts.target = experiment.goal.target_accuracy;
  facts.deadline = experiment.fleet.deadline;
  facts.dense_update = {static_cast<std::int64_t>(sizeof(float)) *
                        static_cast<std::int64_t>(held.parameters.size + held.statistics.size)};
  facts.mechanisms = MechanismsOf(experiment);
  if (const auto& front = experiment.dropout.front; front != nullptr && !front->points.empty()) {
    const FrontCost by = front->cost;
    const double full = front->points.back().Cost(by);
    for (const FrontPoint& point : front->points) {
      facts.front.push_back({std::clamp(point.Cost(by) / full, 0.0, 1.0), point.convergence});
    }
  }
  return facts;
}

}  // namespace tributary
