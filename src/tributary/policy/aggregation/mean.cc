#include "tributary/policy/aggregation/mean.h"

#include <utility>

#include "tributary/policy/aggregation/aggregation.h"

namespace tributary::inline policy {

MeanAggregator::MeanAggregator(const Model& model, UpdateStore& store, std::unique_ptr<CoveredMean> covered)
    : store_(store),
      covered_(std::move(covered)),
      parameters_(model.parameters.size, 1),
      statistics_(model.statistics.size, 1) {}

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

void MeanAggregator::Cover(RoundId round, std::span<const TrainedPart> updates) {
  if (covered_) covered_->Begin(round, updates);
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

}  // namespace tributary::inline policy
