#include "tributary/policy/aggregation/mean.h"

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/policy/aggregation/aggregation.h"

namespace tributary::inline policy {

void MeanAggregator::Begin(double expected_weight) {
  parameters_.sum().Reset(expected_weight);
  statistics_.sum().Reset(expected_weight);
  const MutexLock lock(mutex_);
  for (const auto& [work, weight] : std::exchange(staged_, {})) store_.Remove(work);
}

Status MeanAggregator::Check(const UpdatePiece& piece) const {
  TRIBUTARY_RETURN_IF_ERROR(CheckUpdateRange(piece, sum(piece.part).size()));
  TRIBUTARY_RETURN_IF_ERROR(CheckUpdateWeight(piece.weight, parameters_.sum().expected_weight()));
  return WeightedSum::Check(piece.values, piece.offset);
}

Status MeanAggregator::Stage(WorkId work, const UpdatePiece& piece) {
  TRIBUTARY_RETURN_IF_ERROR(Check(piece));
  // The last piece too: the device may yet vanish, or be late, before it says that it has done.
  TRIBUTARY_RETURN_IF_ERROR(store_.Append(work, piece));
  SumOf(piece.part).Accumulate(piece.weight, piece.offset, piece.values);
  const MutexLock lock(mutex_);
  staged_.emplace(work, piece.weight);
  return OkStatus();
}

Status MeanAggregator::Settle(WorkId work, double weight) {
  double announced = 0;
  {
    const MutexLock lock(mutex_);
    const auto found = staged_.find(work);
    if (found == staged_.end()) {
      store_.Remove(work);  // A first piece may have been refused.
      return OkStatus();
    }
    announced = found->second;
    staged_.erase(found);
  }
  Status status;
  if (weight != announced) {
    status = store_.ForEach(work, [&](const UpdatePiece& piece) {
      SumOf(piece.part).Retract(announced, piece.offset, piece.values);
      if (weight > 0) SumOf(piece.part).Accumulate(weight, piece.offset, piece.values);
    });
  }
  store_.Remove(work);
  return status;
}

Status MeanAggregator::Take(WorkId, std::span<const UpdatePiece> pieces) {
  for (const UpdatePiece& piece : pieces) TRIBUTARY_RETURN_IF_ERROR(Check(piece));
  for (const UpdatePiece& piece : pieces) {
    SumOf(piece.part).Accumulate(piece.weight, piece.offset, piece.values);
  }
  return OkStatus();
}

Status MeanAggregator::CheckComplete() const {
  for (const WeightedSum* sum : {&parameters_.sum(), &statistics_.sum()}) {
    if (sum->size() > 0 && sum->Weight(0, sum->size()) <= 0) {
      return Unavailable("the updates of the round weigh nothing: no device learnt from any sample");
    }
  }
  return OkStatus();
}

Status MeanAggregator::Report(UpdatePart part, std::size_t offset, std::span<float> values) const {
  TRIBUTARY_RETURN_IF_ERROR(sum(part).Mean(offset, values));
  if (covered_ && part == UpdatePart::kParameters) covered_->Apply(offset, values);
  return OkStatus();
}

AggregationRule MeanRule() {
  return {.name = "mean",
          .about = "exact mean, weighted by samples",
          .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
            std::unique_ptr<CoveredMean> covered;
            if (CountsTrained(scene.dropout)) {
              TRIBUTARY_ASSIGN_OR_RETURN(covered, CoveredMean::Make(scene.dropout, scene.model, scene.seed));
            }
            return std::unique_ptr<Aggregator>(
                std::make_unique<MeanAggregator>(scene.model, scene.store, std::move(covered)));
          },
          .untrained = AggregationRule::Untrained::kLeftOut,
          .takes_parts = true};
}

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
