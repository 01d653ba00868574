#include "tributary/coordinator/round_aggregate.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline coordinator {

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
  TRIBUTARY_RETURN_IF_ERROR(CheckWeight(update.weight).WithContext(who));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(update.parameters).WithContext(who));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(update.statistics).WithContext(who + ", statistics"));
  parameters_.Accumulate(update.weight, update.parameters);
  statistics_.Accumulate(update.weight, update.statistics);
  return OkStatus();
}

Status RoundAggregate::CheckWeight(double weight) const {
  // A mean over updates without weight is none, and would end the run.
  if (weight == 0) return Corrupt("it weighs nothing, as if it had been learnt from no sample");
  return parameters_.sum().CheckWeight(weight);
}

Status RoundAggregate::Add(DeviceId device, double weight, const UpdatePiece& piece) {
  ConcurrentWeightedSum& sum = SumOf(piece.part);
  const std::string who = "the update of device " + std::to_string(device.value);
  if (piece.offset > sum.sum().size() || piece.values.size() > sum.sum().size() - piece.offset) {
    return InvalidArgument(who + " has values up to " + std::to_string(piece.offset + piece.values.size()) +
                           " where there are " + std::to_string(sum.sum().size()));
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckWeight(weight).WithContext(who));
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

double ExpectedWeight(const WorkOrder& request, std::span<const DeviceProfile> devices, std::size_t shared) {
  double weight = 0;
  TrainAssignment assignment = request.training();
  for (std::size_t i = 0; i < request.participants.size(); ++i) {
    assignment.batch = request.BatchOf(i);
    weight += MostWeight(assignment, devices[request.participants[i].value].samples);
    weight += static_cast<double>(shared);
  }
  return std::max(1.0, weight);
}

std::vector<UpdatePiece> ClientPartSink::InWhole(const UpdatePiece& piece) const {
  const ClientPartRanges& ranges = piece.part == UpdatePart::kParameters ? parameters_ : statistics_;
  TRIBUTARY_CHECK(piece.offset + piece.values.size() <= ranges.size());
  const std::size_t before =
      std::min(piece.values.size(), ranges.front - std::min(ranges.front, piece.offset));
  std::vector<UpdatePiece> pieces;
  if (before > 0) pieces.push_back({piece.part, piece.offset, piece.values.first(before)});
  if (before < piece.values.size()) {
    pieces.push_back({piece.part, ranges.InWhole(piece.offset + before), piece.values.subspan(before)});
  }
  return pieces;
}

Status ClientPartSink::Accept(DeviceId device, const Update& update) {
  if (update.parameters.size() != parameters_.size() || update.statistics.size() != statistics_.size()) {
    return InvalidArgument("the update of device " + std::to_string(device.value) + " has " +
                           std::to_string(update.parameters.size()) + " values and " +
                           std::to_string(update.statistics.size()) + " statistics, expected " +
                           std::to_string(parameters_.size()) + " and " + std::to_string(statistics_.size()));
  }
  const UpdatePiece parameters{UpdatePart::kParameters, 0, update.parameters};
  TRIBUTARY_RETURN_IF_ERROR(Add(device, update.weight, parameters));
  const Status status = Add(device, update.weight, {UpdatePart::kStatistics, 0, update.statistics});
  if (!status.ok()) Retract(device, update.weight, parameters);
  return status;
}

Status ClientPartSink::Add(DeviceId device, double weight, const UpdatePiece& piece) {
  const std::vector<UpdatePiece> pieces = InWhole(piece);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Status status = whole_->Add(device, weight, pieces[i]);
    if (status.ok()) continue;
    while (i-- > 0) whole_->Retract(device, weight, pieces[i]);
    return status;
  }
  return OkStatus();
}

void ClientPartSink::Retract(DeviceId device, double weight, const UpdatePiece& piece) {
  for (const UpdatePiece& part : InWhole(piece)) whole_->Retract(device, weight, part);
}

}  // namespace tributary::inline coordinator
