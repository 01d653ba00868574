#include "tributary/fleet/protocol/coverage.h"

#include <algorithm>
#include <iterator>
#include <string>

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
  const auto where = [&] { return std::to_string(offset) + " to " + std::to_string(offset + count); };
  if (count == 0) return Corrupt("a piece has no values");
  if (offset > grid_->size() || count > grid_->size() - offset) {
    return Corrupt("a piece has " + std::to_string(count) + " values from " + std::to_string(offset) +
                   " on, but the array has " + std::to_string(grid_->size()));
  }
  const std::size_t end = offset + count;
  if (!grid_->IsBorder(offset) || !grid_->IsBorder(end)) {
    return Corrupt("a piece goes from " + where() + ", which is not where pieces may begin and end");
  }
  auto next = runs_.upper_bound(offset);
  const auto before = next == runs_.begin() ? runs_.end() : std::prev(next);
  if ((before != runs_.end() && before->second > offset) || (next != runs_.end() && next->first < end)) {
    return Corrupt("a piece goes from " + where() + ", of which some came before");
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

}  // namespace tributary::inline protocol
