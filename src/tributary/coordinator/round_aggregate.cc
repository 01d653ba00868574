#include "tributary/coordinator/round_aggregate.h"

#include <algorithm>

namespace tributary {

RoundAggregate::RoundAggregate(const Model& model)
    : parameters_(model.parameters.size, 1), statistics_(model.statistics.size, 1) {}

void RoundAggregate::Begin(double expected_weight) {
  parameters_.sum().Reset(expected_weight);
  statistics_.sum().Reset(expected_weight);
}

Status RoundAggregate::Accept(DeviceId device, const Update& update) {
  const std::string who = "the update of device " + std::to_string(device.value);
  if (update.parameters.size() != parameters_.sum().size() || update.statistics.size() != statistics_.sum().size()) {
    return InvalidArgument(who + " has " + std::to_string(update.parameters.size()) + " values and " +
                           std::to_string(update.statistics.size()) + " statistics, expected " +
                           std::to_string(parameters_.sum().size()) + " and " +
                           std::to_string(statistics_.sum().size()));
  }
  TRIBUTARY_RETURN_IF_ERROR(parameters_.sum().CheckWeight(update.weight).WithContext(who));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(update.parameters).WithContext(who));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(update.statistics).WithContext(who + ", statistics"));
  parameters_.Accumulate(update.weight, update.parameters);
  statistics_.Accumulate(update.weight, update.statistics);
  return OkStatus();
}

Status RoundAggregate::Mean(std::span<float> parameters, std::span<float> statistics) const {
  TRIBUTARY_RETURN_IF_ERROR(parameters_.sum().Mean(parameters));
  return statistics_.sum().Mean(statistics);
}

double ExpectedWeight(const RoundRequest& request, std::span<const DeviceProfile> devices) {
  const TrainAssignment& work = request.assignment;
  double weight = 0;
  for (const DeviceId participant : request.participants) {
    const double samples = static_cast<double>(devices[participant.value].samples);
    const double asked = static_cast<double>(work.steps) * static_cast<double>(work.batch);
    weight += work.epochs > 0 ? work.epochs * samples : asked;
  }
  return std::max(1.0, weight);
}

}  // namespace tributary
