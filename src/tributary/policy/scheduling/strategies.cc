#include "tributary/policy/scheduling/strategies.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary {
namespace {

// The last layer that a segment from `first` on may hold.
std::size_t Reach(const SegmentBound& bound, std::size_t layers, std::size_t first) {
  if (bound.sizes.empty()) return layers - 1;
  double size = bound.sizes[first];
  std::size_t last = first;
  while (last + 1 < layers && size + bound.sizes[last + 1] <= bound.most) size += bound.sizes[++last];
  return last;
}

TransferPlan Cut(const TransferPlan& plan, const SegmentBound& bound) {
  if (bound.sizes.empty()) return plan;
  TransferPlan cut;
  for (const LayerRun& run : plan) {
    for (std::size_t first = run.first; first <= run.last;) {
      const std::size_t last = std::min(run.last, Reach(bound, bound.sizes.size(), first));
      cut.push_back({first, last});
      first = last + 1;
    }
  }
  return cut;
}

TransferPlan Layerwise(std::size_t layers) {
  TransferPlan plan;
  for (std::size_t layer = 0; layer < layers; ++layer) plan.push_back({layer, layer});
  return plan;
}

// After iBatch: the first layer goes alone; each further segment takes as many layers as arrive before the computation
// that has been released by then runs out, and at least one.
TransferPlan IBatch(const PassProfile& profile) {
  const std::size_t layers = profile.transfer.size();
  TransferPlan plan;
  double link = 0;
  double processor = 0;
  for (std::size_t first = 0; first < layers;) {
    std::size_t last = first;
    double arrival = link + profile.setup + profile.transfer[first];
    while (first > 0 && last + 1 < layers && arrival + profile.transfer[last + 1] <= processor) {
      arrival += profile.transfer[++last];
    }
    plan.push_back({first, last});
    link = arrival;
    processor = std::max(processor, link);
    for (std::size_t layer = first; layer <= last; ++layer) processor += profile.compute[layer];
    first = last + 1;
  }
  return plan;
}

}  // namespace

std::string_view NameOf(TransferStrategy strategy) {
  switch (strategy) {
    case TransferStrategy::kSequential:
      return "sequential";
    case TransferStrategy::kLayerwise:
      return "layerwise";
    case TransferStrategy::kIBatch:
      return "ibatch";
    case TransferStrategy::kOptimal:
      return "optimal";
  }
  return "";
}

StatusOr<TransferStrategy> ParseTransferStrategy(std::string_view name) {
  std::vector<std::string> names;
  for (const TransferStrategy strategy : kTransferStrategies) {
    if (NameOf(strategy) == name) return strategy;
    names.emplace_back(NameOf(strategy));
  }
  return UnknownName("strategy", std::string(name), names);
}

TransferPlan PlanTransfers(TransferStrategy strategy, const PassProfile& profile, const SegmentBound& bound) {
  const std::size_t layers = profile.transfer.size();
  TRIBUTARY_CHECK(layers > 0 && profile.compute.size() == layers);
  TRIBUTARY_CHECK(bound.sizes.empty() || bound.sizes.size() == layers);
  switch (strategy) {
    case TransferStrategy::kSequential:
      return Cut({{0, layers - 1}}, bound);
    case TransferStrategy::kLayerwise:
      return Layerwise(layers);
    case TransferStrategy::kIBatch:
      return Cut(IBatch(profile), bound);
    case TransferStrategy::kOptimal:
      return OptimalPlan(profile, bound);
  }
  return {};
}

}  // namespace tributary
