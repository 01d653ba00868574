#include "tributary/coordinator/rest_copy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tributary/coordinator/cut_check.h"
#include "tributary/engine/compute.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary {

RestCopy::RestCopy(const SplitNetwork& network, double label_smoothing)
    : label_smoothing_(label_smoothing),
      parameters_at_(network.whole->parameters.From(network.cut + 1)),
      statistics_at_(network.whole->statistics.From(network.cut + 1)),
      parameters_(network.rest->parameters.size),
      statistics_(network.rest->statistics.size),
      change_(network.rest->parameters.size),
      executor_(network.rest, NetworkMemory{parameters_.span(), statistics_.span(), change_.span()}) {}

Status RestCopy::Begin(const SharedWeights& whole, const TrainAssignment& assignment) {
  origin_ = {whole.parameters.subspan(parameters_at_, parameters_.size()),
             whole.statistics.subspan(statistics_at_, statistics_.size())};
  std::ranges::copy(origin_.parameters, parameters_.data());
  std::ranges::copy(origin_.statistics, statistics_.data());
  learning_rate_ = assignment.learning_rate;
  sound_ = true;
  TRIBUTARY_ASSIGN_OR_RETURN(optimiser_, MakeOptimiser(assignment.optimiser, parameters_.size()));
  return OkStatus();
}

StatusOr<CutReply> RestCopy::Learn(DeviceId device, const CutBatch& batch, Rng chance) {
  if (!sound_) return UnsoundCut(device);
  SetComputeThreads(1);
  const std::vector<float> before(statistics_.data(), statistics_.data() + statistics_.size());
  const PassOptions options{.label_smoothing = label_smoothing_, .rng = &chance, .input_gradient = true};
  const auto pass = executor_.Train({batch.values, batch.labels}, options);
  TRIBUTARY_RETURN_IF_ERROR(pass.status());
  const auto gradient = executor_.input_gradient();
  if (!std::isfinite(pass->loss) || !Finite(gradient) || !WeightedSum::Check(change_.span()).ok() ||
      !WeightedSum::Check(statistics_.span()).ok()) {
    std::ranges::copy(before, statistics_.data());
    return UnsoundCut(device);
  }
  optimiser_->Step(parameters_.span(), change_.span(), learning_rate_);
  // Its gradients are used, and what it has come to is wanted: in their place.
  for (std::size_t i = 0; i < change_.size(); ++i) {
    change_.data()[i] = parameters_.data()[i] - origin_.parameters[i];
  }
  sound_ = WeightedSum::Check(change_.span()).ok();
  if (!sound_) return UnsoundCut(device);
  return CutReply{{gradient.begin(), gradient.end()}, pass->loss, pass->correct};
}

Status RestCopy::AddTo(UpdateSink& sink, DeviceId device, double weight) const {
  TRIBUTARY_RETURN_IF_ERROR(
      sink.Add(device, weight, {UpdatePart::kParameters, parameters_at_, change_.span()}));
  if (statistics_.size() == 0) return OkStatus();
  return sink.Add(device, weight, {UpdatePart::kStatistics, statistics_at_, statistics_.span()});
}

}  // namespace tributary
