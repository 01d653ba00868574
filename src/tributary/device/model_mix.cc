#include "tributary/device/model_mix.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tributary/base/check.h"

namespace tributary::inline device {
namespace {

Status CheckSize(const SharedWeights& weights, const WeightedSum& parameters, const WeightedSum& statistics) {
  if (weights.parameters.size() == parameters.size() && weights.statistics.size() == statistics.size())
    return OkStatus();
  return InvalidArgument("a model of " + std::to_string(weights.parameters.size()) + " parameters and " +
                         std::to_string(weights.statistics.size()) + " statistics, expected " +
                         std::to_string(parameters.size()) + " and " + std::to_string(statistics.size()));
}

}  // namespace

ModelMix::ModelMix(const Model& model)
    : parameters_(model.parameters.size, 1), statistics_(model.statistics.size, 1) {}

void ModelMix::Begin(double most) {
  TRIBUTARY_CHECK(most >= 0 && most <= kMostWeight);
  const double expected = std::max(most, 1.0);
  parameters_.Reset(expected);
  statistics_.Reset(expected);
  left_ = static_cast<std::int64_t>(kUnit);
  room_ = std::llrint(most * kUnit) + (std::int64_t{1} << 12);  // sums of weights are rounded
}

Status ModelMix::Add(double weight, const SharedWeights& neighbour) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSize(neighbour, parameters_, statistics_));
  const std::int64_t units = weight > 0 && weight <= kMostWeight ? std::llrint(weight * kUnit) : 0;
  if (units == 0 || units > room_) {
    return InvalidArgument("a neighbour's weight is " + std::to_string(weight) +
                           "; allowed: above 0, and no more than " +
                           std::to_string(static_cast<double>(room_) / kUnit) + ", what others have left");
  }
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(neighbour.parameters));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(neighbour.statistics));
  parameters_.Accumulate(weight, neighbour.parameters);
  statistics_.Accumulate(weight, neighbour.statistics);
  room_ -= units;
  left_ -= units;
  return OkStatus();
}

Status ModelMix::Finish(const SharedWeights& own, std::span<float> parameters, std::span<float> statistics) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSize(own, parameters_, statistics_));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(own.parameters));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(own.statistics));
  const double weight = static_cast<double>(left_) / kUnit;
  if (weight >= 0) {
    parameters_.Accumulate(weight, own.parameters);
    statistics_.Accumulate(weight, own.statistics);
  } else {
    parameters_.Retract(-weight, 0, own.parameters);
    statistics_.Retract(-weight, 0, own.statistics);
  }
  TRIBUTARY_RETURN_IF_ERROR(parameters_.Mean(parameters));
  return statistics_.Mean(statistics);
}

}  // namespace tributary::inline device
