#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tributary/model/graph.h"

namespace tributary {

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

}  // namespace tributary
