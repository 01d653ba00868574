#pragma once

#include <utility>
#include <vector>

#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/coverage.h"
#include "tributary/model/model.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline protocol {

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
