#include "tributary/engine/subnetwork.h"

namespace tributary::inline engine {

Subnetwork::Subnetwork(std::shared_ptr<const Model> whole, const KeptAtoms& kept, FilterScaling scaling,
                       ExecutorOptions options)
    : whole_(std::move(whole)),
      model_(std::make_shared<const Model>(SubnetworkModel(*whole_, kept))),
      scaling_(scaling),
      map_(*whole_, *model_),
      parameters_(model_->parameters.size),
      scaled_(scales() ? model_->parameters.size : 0),
      statistics_(model_->statistics.size),
      gradients_(model_->parameters.size),
      executor_(model_,
                {scales() ? scaled_.span() : parameters_.span(), statistics_.span(), gradients_.span()},
                options) {
  map_.Keep(kept);
}

void Subnetwork::Gather(std::size_t unit, std::span<const float> parameters,
                        std::span<const float> statistics) {
  map_.Gather(SubnetworkMap::Part::kParameters, unit, parameters, parameters_.span());
  map_.Gather(SubnetworkMap::Part::kStatistics, unit, statistics, statistics_.span());
  if (!scales()) return;
  const Segment& segment = model_->parameters.units[unit];
  std::copy_n(parameters_.data() + segment.offset, segment.count, scaled_.data() + segment.offset);
  map_.Compensate(unit, scaled_.span());
}

void Subnetwork::Uncompensate(std::size_t unit) {
  // The layer saw factor · weight, so the weight's gradient is factor · what came back.
  if (scales()) map_.Compensate(unit, gradients_.span());
}

Subnetwork& Subnetworks::Of(const KeptAtoms& kept) {
  std::vector<std::size_t> counts;
  for (const auto& channels : ChannelsThatRemain(whole_->channels, kept)) counts.push_back(channels.size());
  const auto found = networks_.find(counts);
  if (found != networks_.end()) {
    found->second->Keep(kept);
    return *found->second;
  }
  if (networks_.size() >= kMost) networks_.clear();
  auto& network = networks_[std::move(counts)];
  network = std::make_unique<Subnetwork>(whole_, kept, scaling_, options_);
  return *network;
}

}  // namespace tributary::inline engine
