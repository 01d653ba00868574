#include "tributary/engine/leaves.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary {
namespace {

at::Tensor View(std::span<float> memory, const Layout::Slot& slot) {
  return at::from_blob(memory.data() + slot.segment.offset, slot.tensor.shape, at::kFloat);
}

}  // namespace

// Fires after a parameter's gradient is in the buffer (a tensor hook would fire before).
class Leaves::Arrival : public torch::autograd::FunctionPostHook {
 public:
  Arrival(Leaves& leaves, std::size_t unit) : leaves_(leaves), unit_(unit) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    std::size_t& missing = leaves_.missing_of_unit_[unit_];
    if (missing > 0 && --missing == 0 && leaves_.ready_) leaves_.ready_(unit_);
    return outputs;
  }

 private:
  Leaves& leaves_;
  std::size_t unit_;
};

Leaves::Leaves(const Model& model, const NetworkMemory& memory)
    : nodes_(model.graph.size()), tensors_of_unit_(model.units.size(), 0), missing_of_unit_(model.units.size(), 0) {
  TRIBUTARY_CHECK(memory.parameters.size() == model.parameters.size);
  TRIBUTARY_CHECK(memory.statistics.size() == model.statistics.size);
  TRIBUTARY_CHECK(memory.gradients.empty() || memory.gradients.size() == model.parameters.size);
  std::vector<std::size_t> unit_of(model.graph.size(), 0);
  for (std::size_t unit = 0; unit < model.units.size(); ++unit) {
    for (const NodeIndex node : model.units[unit].nodes) unit_of[node] = unit;
  }
  const bool trains = !memory.gradients.empty();
  if (trains) {
    for (const Segment& unit : model.parameters.units) {
      gradients_of_unit_.push_back(memory.gradients.subspan(unit.offset, unit.count));
    }
  }
  for (const Layout::Slot& slot : model.parameters.slots) {
    at::Tensor leaf = View(memory.parameters, slot);
    if (trains) {
      leaf.set_requires_grad(true);
      leaf.mutable_grad() = View(memory.gradients, slot);
      accumulators_.push_back(torch::autograd::impl::grad_accumulator(leaf));
      accumulators_.back()->add_post_hook(std::make_unique<Arrival>(*this, unit_of[slot.node]));
      ++tensors_of_unit_[unit_of[slot.node]];
    }
    NodeLeaves& node = nodes_[slot.node];
    (slot.tensor.role == NodeTensor::Role::kWeight ? node.weight : node.bias) = leaf;
  }
  for (const Layout::Slot& slot : model.constants.slots) {
    // Only read: nothing asks for their gradients, and frozen norms do not update theirs.
    const std::span<const float> values = model.constant_values->span();
    const at::Tensor view = View({const_cast<float*>(values.data()), values.size()}, slot);
    NodeLeaves& node = nodes_[slot.node];
    switch (slot.tensor.role) {
      case NodeTensor::Role::kWeight: node.weight = view; break;
      case NodeTensor::Role::kBias: node.bias = view; break;
      case NodeTensor::Role::kRunningMean: node.running_mean = view; break;
      case NodeTensor::Role::kRunningVariance: node.running_variance = view; break;
    }
  }
  for (const Layout::Slot& slot : model.statistics.slots) {
    NodeLeaves& node = nodes_[slot.node];
    (slot.tensor.role == NodeTensor::Role::kRunningMean ? node.running_mean : node.running_variance) =
        View(memory.statistics, slot);
  }
}

void Leaves::BeginBackward(const std::vector<bool>& units, std::function<void(std::size_t)> ready) {
  TRIBUTARY_CHECK(!gradients_of_unit_.empty() || units.empty());
  ready_ = std::move(ready);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    missing_of_unit_[unit] = units[unit] ? tensors_of_unit_[unit] : 0;
    if (units[unit]) std::fill(gradients_of_unit_[unit].begin(), gradients_of_unit_[unit].end(), 0.0F);
  }
}

}  // namespace tributary
