#include "tributary/policy/aggregation/covered_mean.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline policy {

CoveredMean::CoveredMean(std::uint64_t seed, const Model& model, DropoutMenu menu)
    : model_(model), seed_(seed), menu_(std::move(menu)), trained_(model.parameters.size) {}

StatusOr<std::unique_ptr<CoveredMean>> CoveredMean::Make(const DropoutOptions& options, const Model& model,
                                                         std::uint64_t seed) {
  TRIBUTARY_ASSIGN_OR_RETURN(DropoutMenu menu, DropoutMenu::Make(model, options));
  return std::unique_ptr<CoveredMean>(new CoveredMean(seed, model, std::move(menu)));
}

const Model& CoveredMean::SubnetworkOf(std::size_t entry) {
  auto& subnetwork = subnetwork_[entry];
  if (!subnetwork) {
    const KeptAtoms first = FirstAtoms(model_.channels, menu_.entries()[entry].kept);
    subnetwork = std::make_unique<const Model>(SubnetworkModel(model_, first));
  }
  return *subnetwork;
}

void CoveredMean::AddChannels(std::size_t entry, const KeptAtoms& kept, float weight) {
  const Model& subnetwork = SubnetworkOf(entry);
  SubnetworkMap map(model_, subnetwork);
  map.Keep(kept);
  std::vector<float> sums(subnetwork.parameters.size);
  map.GatherAll(SubnetworkMap::Part::kParameters, trained_.span(), sums);
  for (float& sum : sums) sum += weight;
  map.ScatterAll(SubnetworkMap::Part::kParameters, sums, trained_.span());
}

void CoveredMean::AddLikely(std::size_t entry, float weight) {
  const Model& subnetwork = SubnetworkOf(entry);
  for (std::size_t i = 0; i < model_.parameters.slots.size(); ++i) {
    const Segment& all = model_.parameters.slots[i].segment;
    const float likely =
        static_cast<float>(subnetwork.parameters.slots[i].segment.count) / static_cast<float>(all.count);
    for (float& sum : trained_.span().subspan(all.offset, all.count)) sum += likely * weight;
  }
}

void CoveredMean::Begin(RoundId round, std::span<const TrainedPart> updates) {
  std::ranges::fill(trained_.span(), 0.0F);
  all_ = 0;
  std::map<std::size_t, float> weight_of;  // what is trained by entry alone, whoever it was
  for (const TrainedPart& update : updates) {
    TRIBUTARY_CHECK(!update.entries.empty());
    const auto weight = static_cast<float>(update.samples);
    all_ += weight;
    if (menu_.method()->IsFixedInRound()) {
      const std::size_t entry = update.entries.back();
      AddChannels(entry, AtomsOf(menu_, {seed_, update.device, round}, 0, entry), weight);
      continue;
    }
    const float step = weight / static_cast<float>(update.entries.size());
    for (const std::uint32_t entry : update.entries) weight_of[entry] += step;
  }
  const bool nested = menu_.method()->nested || menu_.channels() == ChannelChoice::kFirst;
  for (const auto& [entry, weight] : weight_of) {
    if (nested) {
      AddChannels(entry, FirstAtoms(model_.channels, menu_.entries()[entry].kept), weight);
    } else {
      AddLikely(entry, weight);
    }
  }
}

void CoveredMean::Apply(std::size_t offset, std::span<float> mean) const {
  const std::span<const float> trained = trained_.span().subspan(offset, mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    // Whoever sends a change of what nobody says to have trained, is not believed.
    mean[i] = trained[i] > 0 ? mean[i] * (all_ / trained[i]) : 0;
  }
}

}  // namespace tributary::inline policy
