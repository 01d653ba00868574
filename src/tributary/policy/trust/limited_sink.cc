#include "tributary/policy/trust/limited_sink.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline policy {
namespace {

// Statistics as they are.
std::vector<float> Shortened(const UpdatePiece& piece, double factor) {
  std::vector<float> values(piece.values.begin(), piece.values.end());
  if (piece.part != UpdatePart::kParameters) return values;
  for (float& value : values) value = static_cast<float>(factor * static_cast<double>(value));
  return values;
}

}  // namespace

void LimitedSink::Begin(UpdateSink& aggregator, double most_weight, double most_norm) {
  aggregator_ = &aggregator;
  most_weight_ = most_weight;
  most_norm_ = most_norm;
  const MutexLock lock(mutex_);
  coming_.clear();
  taken_.clear();
}

Status LimitedSink::Stage(WorkId work, const UpdatePiece& piece) {
  UpdatePiece limited = piece;
  limited.weight = std::min(piece.weight, most_weight_);
  TRIBUTARY_RETURN_IF_ERROR(aggregator_->Stage(work, limited));
  Norms* norms = nullptr;
  {
    const MutexLock lock(mutex_);
    norms = &coming_[work];  // It stays where it is; this work item has no other thread.
  }
  norms->Of(piece.part).Add(piece.values);
  return OkStatus();
}

Status LimitedSink::Commit(WorkId work, double weight) {
  const double counted = std::min(weight, most_weight_);
  Taken taken{.weight = counted, .capped = counted < weight};
  {
    const MutexLock lock(mutex_);
    if (const auto came = coming_.extract(work)) {
      taken.norm = came.mapped().parameters.Value();
      taken.statistics = came.mapped().statistics.Value();
    }
    taken.clipped = taken.norm > most_norm_;
    taken.counted = std::min(taken.norm, most_norm_);
    taken_[work] = taken;
  }
  if (!taken.clipped) return aggregator_->Commit(work, counted);
  std::vector<UpdatePiece> pieces;
  std::vector<std::vector<float>> values;
  TRIBUTARY_RETURN_IF_ERROR(store_.ForEach(work, [&](const UpdatePiece& piece) {
    values.push_back(Shortened(piece, most_norm_ / taken.norm));
    pieces.push_back({piece.part, piece.offset, values.back(), counted});
  }));
  TRIBUTARY_RETURN_IF_ERROR(aggregator_->Discard(work));
  return aggregator_->Take(work, pieces);
}

Status LimitedSink::Discard(WorkId work) {
  {
    const MutexLock lock(mutex_);
    coming_.erase(work);
  }
  return aggregator_->Discard(work);
}

Status LimitedSink::Take(WorkId work, std::span<const UpdatePiece> pieces) {
  Norms norms;
  Taken taken;
  std::vector<UpdatePiece> limited(pieces.begin(), pieces.end());
  for (UpdatePiece& piece : limited) {
    taken.capped = taken.capped || piece.weight > most_weight_;
    piece.weight = std::min(piece.weight, most_weight_);
    taken.weight = std::max(taken.weight, piece.weight);
    norms.Of(piece.part).Add(piece.values);
  }
  taken.norm = norms.parameters.Value();
  taken.statistics = norms.statistics.Value();
  taken.clipped = taken.norm > most_norm_;
  taken.counted = std::min(taken.norm, most_norm_);
  std::vector<std::vector<float>> values;
  for (UpdatePiece& piece : limited) {
    if (!taken.clipped) break;
    // Values that may not be in an update must not become allowed by being scaled.
    TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(piece.values, piece.offset));
    values.push_back(Shortened(piece, most_norm_ / taken.norm));
    piece = {piece.part, piece.offset, values.back(), piece.weight};
  }
  TRIBUTARY_RETURN_IF_ERROR(aggregator_->Take(work, limited));
  const MutexLock lock(mutex_);
  taken_[work] = taken;
  return OkStatus();
}

}  // namespace tributary::inline policy
