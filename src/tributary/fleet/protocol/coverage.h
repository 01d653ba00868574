#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/messages.h"
#include "tributary/model/layout.h"
#include "tributary/model/model.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline protocol {

// Where an array may be cut for the way: at multiples of a length and where layers begin. So pieces can follow layers,
// and no sender can make a receiver store millions of borders.
class PieceGrid {
 public:
  // `segments` are those of the layers, in the order of the array.
  PieceGrid(std::size_t size, std::size_t piece, const std::vector<Segment>& segments = {});

  std::size_t size() const { return size_; }
  bool IsBorder(std::size_t offset) const;
  // A run that begins and ends at borders, in pieces as long as can be, one after the other.
  std::vector<Segment> Pieces(const Segment& run) const;

 private:
  std::size_t size_;
  std::size_t piece_;
  std::vector<std::size_t> layers_;  // where they begin, rising
};

// Which parts of an array have come.
class Coverage {
 public:
  // The grid must outlive it.
  explicit Coverage(const PieceGrid& grid) : grid_(&grid) {}

  // Notes that these came. Refused, and nothing noted: elements that the array does not have, that came before, or that
  // begin or end where there is no border.
  Status Take(std::size_t offset, std::size_t count);
  bool complete() const { return taken_ == grid_->size(); }

 private:
  const PieceGrid* grid_;
  std::map<std::size_t, std::size_t> runs_;  // begin and end of runs that do not touch
  std::size_t taken_ = 0;
};

// Where the arrays of a model may be cut for the way, for both directions. Constant, so any thread may use it.
class ModelPieces {
 public:
  // The model must outlive it. `piece_floats` is the longest piece.
  ModelPieces(const Model& model, std::size_t piece_floats);

  // The plan that transfers everything in one segment.
  TransferPlan Whole() const;
  // The weights in the order of a plan's segments.
  std::vector<std::pair<Array, Segment>> Outgoing(const TransferPlan& plan) const;
  // Parameters and statistics.
  std::size_t bytes() const { return (parameters.size() + statistics.size()) * sizeof(float); }

 private:
  const Model& model_;

 public:
  const PieceGrid parameters, statistics, moments;
};

}  // namespace tributary::inline protocol
