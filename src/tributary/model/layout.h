#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/model/graph.h"

namespace tributary::inline model {

// A persistent tensor of a node: a weight or a running statistic.
struct NodeTensor {
  enum class Role { kWeight, kBias, kRunningMean, kRunningVariance };

  Role role;
  std::vector<std::int64_t> shape;

  std::int64_t elements() const;
  // The name in PyTorch: "weight", "bias", "running_mean", "running_var".
  std::string_view suffix() const;
};

// The learnt tensors of a node. Convolution: weight (out × in/groups × height × width) and bias; norm: scale
// and shift; linear layer: weight (out × in) and bias; other kinds: none.
std::vector<NodeTensor> ParametersOf(const Graph& graph, NodeIndex index);

// The tracked tensors of a node: running mean and variance of a batch norm.
std::vector<NodeTensor> StatisticsOf(const Graph& graph, NodeIndex index);

// The unit of transfer: a convolution or linear layer with its norms. A norm belongs to the layer whose
// output it reads, or else (after a concatenation, as in DenseNet) to the next layer that reads it. Units are
// runs of nodes with parameters in execution order. A norm that is not adjacent to its layer in that order is
// a separate unit, so that the units before a cut come before all others.
struct TransferUnit {
  std::string name;              // of the convolution or linear layer in it
  std::vector<NodeIndex> nodes;  // the nodes with parameters, in execution order
};

std::vector<TransferUnit> TransferUnits(const Graph& graph);

// A range of floats in a flat buffer.
struct Segment {
  std::size_t offset = 0;
  std::size_t count = 0;
  std::size_t end() const { return offset + count; }
  friend bool operator==(const Segment&, const Segment&) = default;
};

// Offsets of all tensors of one kind (parameters or running statistics) in one flat buffer, unit by unit in
// the order of TransferUnits, each 64-byte aligned. The padding between tensors is zero and stays zero,
// because its gradients are. So a run of units is one segment, and code that works on plain floats
// (optimisers, aggregation, compression, checkpoints) does not need to know tensors.
struct Layout {
  struct Slot {
    NodeIndex node;
    NodeTensor tensor;
    std::string name;  // PyTorch's name, such as "layer1.0.conv1.weight"
    Segment segment;
  };

  std::vector<Slot> slots;  // in the order of the buffer
  // Per transfer unit, without gaps; empty for a unit without such a tensor.
  std::vector<Segment> units;
  std::size_t size = 0;  // floats, including padding

  // The segment of units first … last.
  Segment Run(std::size_t first, std::size_t last) const {
    return {units[first].offset, units[last].end() - units[first].offset};
  }
  // Offset of the first tensor of `node` or a later node; the size if there is none. For a node after a cut.
  std::size_t From(NodeIndex node) const;
};

Layout ParameterLayout(const Graph& graph, const std::vector<TransferUnit>& units);
Layout StatisticsLayout(const Graph& graph, const std::vector<TransferUnit>& units);
// Both kinds in one buffer, node by node.
Layout WholeLayout(const Graph& graph, const std::vector<TransferUnit>& units);

}  // namespace tributary::inline model
