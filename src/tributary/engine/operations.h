#pragma once

#include <ATen/ATen.h>

#include <span>

#include "tributary/base/rng.h"
#include "tributary/model/operation.h"

namespace tributary::inline engine {

// The persistent tensors of one node; undefined if its kind has none.
struct NodeLeaves {
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor running_mean;
  at::Tensor running_variance;
};

struct OperationContext {
  bool batch_statistics = false;  // batch norms use the batch's statistics and update the running ones
  bool drop = false;              // dropout is active
  bool in_place = false;          // no other node reads the input: an elementwise node may overwrite it
  Rng* rng = nullptr;
};

// Computes one node: the only mapping from kinds of nodes to torch functions.
at::Tensor Apply(const Operation& operation, std::span<const at::Tensor> inputs, const NodeLeaves& leaves,
                 const OperationContext& context);

}  // namespace tributary::inline engine
