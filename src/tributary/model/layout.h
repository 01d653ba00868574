#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tributary/model/graph.h"
#include "tributary/model/node_tensors.h"
#include "tributary/model/transfer_units.h"

namespace tributary {

// A run of floats in a flat buffer.
struct Segment {
  std::size_t offset = 0;
  std::size_t count = 0;
  std::size_t end() const { return offset + count; }
  friend bool operator==(const Segment&, const Segment&) = default;
};

// Where every tensor of one kind (parameters, or running statistics) lies in one flat buffer. Tensors stand unit by
// unit in the order of TransferUnits, each on a 64-byte boundary; the few floats between them are zero and stay zero
// (their gradients are). So a run of units is one segment, and whatever works on plain floats (optimisers,
// aggregation, compression, checkpoints) needs to know nothing of tensors.
struct Layout {
  struct Slot {
    NodeIndex node;
    NodeTensor tensor;
    std::string name;  // "layer1.0.conv1.weight", PyTorch's name for it
    Segment segment;
  };

  std::vector<Slot> slots;  // in the order of the buffer
  std::vector<Segment>
      units;             // per transfer unit, without gaps; empty segments where a unit has no such tensor
  std::size_t size = 0;  // floats, padding included

  // What these units have together, both ends included.
  Segment Run(std::size_t first, std::size_t last) const {
    return {units[first].offset, units[last].end() - units[first].offset};
  }
  // Where the tensors of nodes from this one on begin; the size if there are none. For a node after a cut.
  std::size_t From(NodeIndex node) const;
};

Layout ParameterLayout(const Graph& graph, const std::vector<TransferUnit>& units);
Layout StatisticsLayout(const Graph& graph, const std::vector<TransferUnit>& units);
// Both kinds in one buffer, node by node.
Layout WholeLayout(const Graph& graph, const std::vector<TransferUnit>& units);

}  // namespace tributary
