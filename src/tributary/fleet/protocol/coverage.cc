#include "tributary/fleet/protocol/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tributary::inline protocol {

PieceGrid::PieceGrid(std::size_t size, std::size_t piece, const std::vector<Segment>& segments)
    : size_(size), piece_(piece) {
  for (const Segment& segment : segments) {
    if (layers_.empty() || segment.offset > layers_.back()) layers_.push_back(segment.offset);
  }
}

bool PieceGrid::IsBorder(std::size_t offset) const {
  return offset == size_ || offset % piece_ == 0 || std::ranges::binary_search(layers_, offset);
}

std::vector<Segment> PieceGrid::Pieces(const Segment& run) const {
  std::vector<Segment> pieces;
  for (std::size_t offset = run.offset; offset < run.end();) {
    const std::size_t end = std::min(run.end(), (offset / piece_ + 1) * piece_);
    pieces.push_back({offset, end - offset});
    offset = end;
  }
  return pieces;
}

Status Coverage::Take(std::size_t offset, std::size_t count) {
  const auto where = [&] { return fmt::format("a piece goes from {} to {}, ", offset, offset + count); };
  if (count == 0) return Corrupt("a piece has no values");
  if (offset > grid_->size() || count > grid_->size() - offset) {
    return Corrupt(
        fmt::format("a piece has {} values from {} on, but the array has {}", count, offset, grid_->size()));
  }
  const std::size_t end = offset + count;
  if (!grid_->IsBorder(offset) || !grid_->IsBorder(end))
    return Corrupt(where() + "which is not where pieces may begin and end");
  auto next = runs_.upper_bound(offset);
  const auto before = next == runs_.begin() ? runs_.end() : std::prev(next);
  if ((before != runs_.end() && before->second > offset) || (next != runs_.end() && next->first < end)) {
    return Corrupt(where() + "of which some came before");
  }
  taken_ += count;
  std::size_t merged_end = end;
  if (next != runs_.end() && next->first == end) {
    merged_end = next->second;
    runs_.erase(next);
  }
  if (before != runs_.end() && before->second == offset) {
    before->second = merged_end;
  } else {
    runs_.emplace(offset, merged_end);
  }
  return OkStatus();
}

ModelPieces::ModelPieces(const Model& model, std::size_t piece_floats)
    : model_(model),
      parameters(model.parameters.size, piece_floats, model.parameters.units),
      statistics(model.statistics.size, piece_floats, model.statistics.units),
      moments(model.statistics.size, piece_floats) {}

TransferPlan ModelPieces::Whole() const {
  const std::size_t units = model_.units.size();
  return units == 0 ? TransferPlan{} : TransferPlan{{0, units - 1}};
}

std::vector<std::pair<Array, Segment>> ModelPieces::Outgoing(const TransferPlan& plan) const {
  std::vector<std::pair<Array, Segment>> pieces;
  const auto append = [&](Array array, const PieceGrid& grid, const Segment& run) {
    for (const Segment& piece : grid.Pieces(run)) pieces.emplace_back(array, piece);
  };
  for (const auto& [first, last] : plan) {
    append(Array::kParameters, parameters, model_.parameters.Run(first, last));
    append(Array::kStatistics, statistics, model_.statistics.Run(first, last));
  }
  return pieces;
}

}  // namespace tributary::inline protocol
