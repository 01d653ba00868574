#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/model/graph.h"

namespace tributary::inline model {

// A tensor that belongs to a node and persists between steps: a weight, or a running statistic.
struct NodeTensor {
  enum class Role { kWeight, kBias, kRunningMean, kRunningVariance };

  Role role;
  std::vector<std::int64_t> shape;

  std::int64_t elements() const;
  // PyTorch's word for it: "weight", "bias", "running_mean", "running_var".
  std::string_view suffix() const;
};

// What a node learns: of a convolution its weight as out × in/groups × height × width and its bias, of a norm its
// scale and shift, of a linear layer out × in and bias; of other kinds nothing.
std::vector<NodeTensor> ParametersOf(const Graph& graph, NodeIndex index);

// What a node tracks without learning it: the running mean and variance of a batch norm.
std::vector<NodeTensor> StatisticsOf(const Graph& graph, NodeIndex index);

// What is sent and received together: a convolution or linear layer with the norms that belong to it. A norm belongs
// to the layer whose output it reads; where it reads something else (a concatenation, as in a DenseNet), to the layer
// that reads it next. Units are runs of the nodes with parameters in the order of execution, and a norm that is not next to
// its layer in that order is a unit of its own: so the units of what lies before a cut come before all others.
struct TransferUnit {
  std::string name;              // of the convolution or linear layer in it
  std::vector<NodeIndex> nodes;  // the nodes with parameters, in execution order
};

std::vector<TransferUnit> TransferUnits(const Graph& graph);

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

}  // namespace tributary::inline model
