#include "tributary/coordinator/client_part_sink.h"

#include <algorithm>
#include <string>

namespace tributary::inline coordinator {

Status ClientPartSink::AppendInWhole(const UpdatePiece& piece, std::vector<UpdatePiece>& pieces) const {
  const ClientPartRanges& ranges = piece.part == UpdatePart::kParameters ? parameters_ : statistics_;
  TRIBUTARY_RETURN_IF_ERROR(CheckUpdateRange(piece, ranges.size()));
  const std::size_t before =
      std::min(piece.values.size(), ranges.front - std::min(ranges.front, piece.offset));
  if (before == 0 || before == piece.values.size()) {
    pieces.push_back(piece);
    pieces.back().offset = ranges.InWhole(piece.offset);
    return OkStatus();
  }
  pieces.push_back({piece.part, piece.offset, piece.values.first(before), piece.weight});
  pieces.push_back(
      {piece.part, ranges.InWhole(piece.offset + before), piece.values.subspan(before), piece.weight});
  return OkStatus();
}

Status ClientPartSink::Stage(WorkId work, const UpdatePiece& piece) {
  std::vector<UpdatePiece> pieces;
  TRIBUTARY_RETURN_IF_ERROR(AppendInWhole(piece, pieces));
  for (const UpdatePiece& part : pieces) TRIBUTARY_RETURN_IF_ERROR(whole_->Stage(work, part));
  return OkStatus();
}

Status ClientPartSink::Take(WorkId work, std::span<const UpdatePiece> pieces) {
  std::vector<UpdatePiece> in_whole;
  for (const UpdatePiece& piece : pieces) TRIBUTARY_RETURN_IF_ERROR(AppendInWhole(piece, in_whole));
  return whole_->Take(work, in_whole);
}

}  // namespace tributary::inline coordinator
