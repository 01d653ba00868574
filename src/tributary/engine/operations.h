#pragma once

#include <ATen/ATen.h>

#include <span>

#include "tributary/base/rng.h"
#include "tributary/model/operation.h"

namespace tributary::inline engine {

// The persistent tensors of one node; undefined where its kind has none.
struct NodeLeaves {
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor running_mean;
  at::Tensor running_variance;
};

struct OperationContext {
  bool batch_statistics = false;  // batch norms use those of the batch, and update the running ones
  bool drop = false;              // dropout nodes drop
  bool in_place = false;          // no other node reads the input: an elementwise node may overwrite it
  Rng* rng = nullptr;
};

// Computes one node. The only place where a kind of node meets the torch call that does it.
at::Tensor Apply(const Operation& operation, std::span<const at::Tensor> inputs, const NodeLeaves& leaves,
                 const OperationContext& context);

}  // namespace tributary::inline engine
