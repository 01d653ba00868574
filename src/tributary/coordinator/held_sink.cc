#include "tributary/coordinator/held_sink.h"

#include <vector>

#include "tributary/base/check.h"

namespace tributary {

UpdatePiece HeldSink::InWhole(const UpdatePiece& piece) const {
  const HeldRanges& ranges = piece.part == UpdatePart::kParameters ? parameters_ : statistics_;
  TRIBUTARY_CHECK(piece.offset + piece.values.size() <= ranges.size());
  TRIBUTARY_CHECK(piece.offset >= ranges.front || piece.offset + piece.values.size() <= ranges.front);
  return {piece.part, ranges.InWhole(piece.offset), piece.values};
}

Status HeldSink::Accept(DeviceId device, const Update& update) {
  if (update.parameters.size() != parameters_.size() || update.statistics.size() != statistics_.size()) {
    return InvalidArgument("the update of device " + std::to_string(device.value) + " has " +
                           std::to_string(update.parameters.size()) + " values and " +
                           std::to_string(update.statistics.size()) + " statistics, expected " +
                           std::to_string(parameters_.size()) + " and " + std::to_string(statistics_.size()));
  }
  std::vector<UpdatePiece> taken;
  const auto add = [&](UpdatePart part, std::span<const float> values, const HeldRanges& ranges) -> Status {
    for (const auto& [offset, count] : {std::pair(std::size_t{0}, ranges.front), std::pair(ranges.front, ranges.tail)}) {
      if (count == 0) continue;
      const UpdatePiece piece{part, offset, values.subspan(offset, count)};
      TRIBUTARY_RETURN_IF_ERROR(Add(device, update.weight, piece));
      taken.push_back(piece);
    }
    return OkStatus();
  };
  Status status = add(UpdatePart::kParameters, update.parameters, parameters_);
  if (status.ok()) status = add(UpdatePart::kStatistics, update.statistics, statistics_);
  if (!status.ok()) {
    for (const UpdatePiece& piece : taken) Retract(device, update.weight, piece);
  }
  return status;
}

Status HeldSink::Add(DeviceId device, double weight, const UpdatePiece& piece) {
  return whole_->Add(device, weight, InWhole(piece));
}

void HeldSink::Retract(DeviceId device, double weight, const UpdatePiece& piece) {
  whole_->Retract(device, weight, InWhole(piece));
}

}  // namespace tributary
