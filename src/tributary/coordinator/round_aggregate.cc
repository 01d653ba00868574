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
  if (update.parameters.size() != parameters_.sum().size() ||
      update.statistics.size() != statistics_.sum().size()) {
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

Status RoundAggregate::Add(DeviceId device, double weight, const UpdatePiece& piece) {
  ConcurrentWeightedSum& sum = SumOf(piece.part);
  const std::string who = "the update of device " + std::to_string(device.value);
  if (piece.offset > sum.sum().size() || piece.values.size() > sum.sum().size() - piece.offset) {
    return InvalidArgument(who + " has values up to " + std::to_string(piece.offset + piece.values.size()) +
                           " where there are " + std::to_string(sum.sum().size()));
  }
  TRIBUTARY_RETURN_IF_ERROR(sum.sum().CheckWeight(weight).WithContext(who));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(piece.values, piece.offset).WithContext(who));
  sum.Accumulate(weight, piece.offset, piece.values);
  return OkStatus();
}

void RoundAggregate::Retract(DeviceId, double weight, const UpdatePiece& piece) {
  SumOf(piece.part).Retract(weight, piece.offset, piece.values);
}

Status RoundAggregate::CheckComplete() const {
  for (const WeightedSum* sum : {&parameters_.sum(), &statistics_.sum()}) {
    if (sum->size() > 0 && sum->Weight(0, sum->size()) <= 0) {
      return Unavailable("the updates of the round weigh nothing: no device learnt from any sample");
    }
  }
  return OkStatus();
}

Status RoundAggregate::Mean(UpdatePart part, std::size_t offset, std::span<float> mean) const {
  return SumOf(part).sum().Mean(offset, mean);
}

double ExpectedWeight(const RoundRequest& request, std::span<const DeviceProfile> devices,
                      std::size_t shared) {
  double weight = 0;
  TrainAssignment assignment = request.assignment;
  for (std::size_t i = 0; i < request.participants.size(); ++i) {
    assignment.batch = request.BatchOf(i);
    weight += MostWeight(assignment, devices[request.participants[i].value].samples);
    weight += static_cast<double>(shared);
  }
  return std::max(1.0, weight);
}

}  // namespace tributary
