#include "tributary/coordinator/held_sink.h"

#include "tributary/base/check.h"

namespace tributary {

std::vector<UpdatePiece> HeldSink::InWhole(const UpdatePiece& piece) const {
  const HeldRanges& ranges = piece.part == UpdatePart::kParameters ? parameters_ : statistics_;
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

Status HeldSink::Accept(DeviceId device, const Update& update) {
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

Status HeldSink::Add(DeviceId device, double weight, const UpdatePiece& piece) {
  const std::vector<UpdatePiece> pieces = InWhole(piece);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Status status = whole_->Add(device, weight, pieces[i]);
    if (status.ok()) continue;
    while (i-- > 0) whole_->Retract(device, weight, pieces[i]);
    return status;
  }
  return OkStatus();
}

void HeldSink::Retract(DeviceId device, double weight, const UpdatePiece& piece) {
  for (const UpdatePiece& part : InWhole(piece)) whole_->Retract(device, weight, part);
}

}  // namespace tributary
