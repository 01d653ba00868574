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

// The borders at which an array may be divided into pieces: multiples of a length, and the beginnings of
// layers. Pieces can follow layers, but a sender cannot make a receiver store millions of borders.
class PieceGrid {
 public:
  // `segments`: the layers, in the order of the array.
  PieceGrid(std::size_t size, std::size_t piece, const std::vector<Segment>& segments = {});
  std::size_t size() const { return size_; }
  bool IsBorder(std::size_t offset) const;
  // Divides a run between borders into pieces of maximum length.
  std::vector<Segment> Pieces(const Segment& run) const;

 private:
  std::size_t size_;
  std::size_t piece_;
  std::vector<std::size_t> layers_;  // first elements of the layers, ascending
};

// The parts of an array that have arrived.
class Coverage {
 public:
  // The grid must outlive it.
  explicit Coverage(const PieceGrid& grid) : grid_(&grid) {}

  // Records a piece. Fails without effect if it exceeds the array, overlaps a piece or ignores borders.
  Status Take(std::size_t offset, std::size_t count);
  bool complete() const { return taken_ == grid_->size(); }

 private:
  const PieceGrid* grid_;
  std::map<std::size_t, std::size_t> runs_;  // begin → end of runs that do not touch
  std::size_t taken_ = 0;
};

// How the arrays of a model are divided into pieces, in both directions. Immutable, so thread-safe.
class ModelPieces {
 public:
  // The model must outlive it. `piece_floats`: maximum length of a piece.
  ModelPieces(const Model& model, std::size_t piece_floats);

  // The plan with a single segment.
  TransferPlan Whole() const;
  // The weights' pieces in the order of a plan's segments.
  std::vector<std::pair<Array, Segment>> Outgoing(const TransferPlan& plan) const;
  std::size_t bytes() const { return (parameters.size() + statistics.size()) * sizeof(float); }

 private:
  const Model& model_;

 public:
  const PieceGrid parameters, statistics, moments;
};

}  // namespace tributary::inline protocol
