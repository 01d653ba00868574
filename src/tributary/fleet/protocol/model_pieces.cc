#include "tributary/fleet/protocol/model_pieces.h"

namespace tributary::inline protocol {

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
  for (const LayerRun& run : plan) {
    for (const Segment& piece : parameters.Pieces(model_.parameters.Run(run.first, run.last))) {
      pieces.emplace_back(Array::kParameters, piece);
    }
    for (const Segment& piece : statistics.Pieces(model_.statistics.Run(run.first, run.last))) {
      pieces.emplace_back(Array::kStatistics, piece);
    }
  }
  return pieces;
}

}  // namespace tributary::inline protocol
