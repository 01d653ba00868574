#include "tributary/engine/operations.h"

#include <array>

#include "tributary/base/check.h"

namespace tributary::inline engine {
namespace {

using Pair = std::array<std::int64_t, 2>;

Pair Of(const Extent& extent) { return {extent.height, extent.width}; }

// Drawn from the device's Rng: torch's global generator would make devices depend on each other.
at::Tensor DropoutMask(const at::Tensor& like, double rate, Rng* rng) {
  TRIBUTARY_CHECK(rng != nullptr);
  at::Tensor mask = at::empty(like.sizes(), at::kFloat);
  const auto scale = static_cast<float>(1 / (1 - rate));
  float* values = mask.data_ptr<float>();
  for (std::int64_t i = 0; i < mask.numel(); ++i) values[i] = rng->Uniform() < rate ? 0.0F : scale;
  return mask.to(like.device());
}

class Application {
 public:
  Application(std::span<const at::Tensor> inputs, const NodeLeaves& leaves, const OperationContext& context)
      : inputs_(inputs), leaves_(leaves), context_(context) {}

  at::Tensor operator()(const Input&) const {
    TRIBUTARY_CHECK(false);
    return {};
  }
  at::Tensor operator()(const Conv& op) const {
    return at::conv2d(x(), leaves_.weight, leaves_.bias, Of(op.stride), Of(op.padding), Of(op.dilation),
                      op.groups);
  }
  at::Tensor operator()(const Pad& op) const {
    const std::array<std::int64_t, 4> sides = {op.before.width, op.after.width, op.before.height,
                                               op.after.height};
    return at::constant_pad_nd(x(), sides, 0);
  }
  at::Tensor operator()(const BatchNorm& op) const {
    return at::batch_norm(x(), leaves_.weight, leaves_.bias, leaves_.running_mean, leaves_.running_variance,
                          context_.batch_statistics, op.momentum, op.epsilon, /*cudnn_enabled=*/true);
  }
  at::Tensor operator()(const GroupNorm& op) const {
    return at::group_norm(x(), op.groups, leaves_.weight, leaves_.bias, op.epsilon);
  }
  at::Tensor operator()(const Relu&) const {
    at::Tensor input = x();
    return context_.in_place ? at::relu_(input) : at::relu(input);
  }
  at::Tensor operator()(const Relu6&) const {
    at::Tensor input = x();
    return context_.in_place ? at::hardtanh_(input, 0, 6) : at::hardtanh(input, 0, 6);
  }
  at::Tensor operator()(const MaxPool& op) const {
    return at::max_pool2d(x(), Of(op.kernel), Of(op.stride), Of(op.padding), /*dilation=*/1, op.round_up);
  }
  at::Tensor operator()(const AvgPool& op) const {
    return at::avg_pool2d(x(), Of(op.kernel), Of(op.stride), Of(op.padding), op.round_up, op.count_padding);
  }
  at::Tensor operator()(const GlobalAvgPool&) const { return at::adaptive_avg_pool2d(x(), Pair{1, 1}); }
  at::Tensor operator()(const Linear&) const { return at::linear(x(), leaves_.weight, leaves_.bias); }
  at::Tensor operator()(const Add&) const {
    at::Tensor sum = x();
    for (const at::Tensor& other : inputs_.subspan(1)) sum = sum + other;
    return sum;
  }
  at::Tensor operator()(const Concat&) const {
    return at::cat(at::TensorList(inputs_.data(), inputs_.size()), /*dim=*/1);
  }
  at::Tensor operator()(const Flatten&) const { return x().flatten(1); }
  at::Tensor operator()(const Dropout& op) const {
    return context_.drop && op.rate > 0 ? x() * DropoutMask(x(), op.rate, context_.rng) : x();
  }

 private:
  const at::Tensor& x() const { return inputs_[0]; }

  std::span<const at::Tensor> inputs_;
  const NodeLeaves& leaves_;
  const OperationContext& context_;
};

}  // namespace

at::Tensor Apply(const Operation& operation, std::span<const at::Tensor> inputs, const NodeLeaves& leaves,
                 const OperationContext& context) {
  return std::visit(Application(inputs, leaves, context), operation);
}

}  // namespace tributary::inline engine
