#include "tributary/engine/leaves.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline engine {

// Called after a parameter's gradient is in the buffer (a tensor hook would be called before).
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

namespace {

at::Tensor& LeafOf(NodeLeaves& node, NodeTensor::Role role) {
  at::Tensor* const by_role[] = {&node.weight, &node.bias, &node.running_mean, &node.running_variance};
  return *by_role[static_cast<std::size_t>(role)];
}

}  // namespace

Leaves::Leaves(const Model& model, const PlacedMemory& memory)
    : nodes_(model.graph.size()),
      tensors_of_unit_(model.units.size(), 0),
      missing_of_unit_(model.units.size(), 0) {
  std::vector<std::size_t> unit_of(model.graph.size(), 0);
  for (std::size_t unit = 0; unit < model.units.size(); ++unit) {
    for (const NodeIndex node : model.units[unit].nodes) unit_of[node] = unit;
  }
  gradients_ = memory.gradients();
  const bool trains = gradients_.defined();
  if (trains) {
    for (const Segment& unit : model.parameters.units) {
      gradients_of_unit_.push_back(gradients_.narrow(0, static_cast<std::int64_t>(unit.offset),
                                                     static_cast<std::int64_t>(unit.count)));
    }
  }
  for (const Layout::Slot& slot : model.parameters.slots) {
    at::Tensor leaf = memory.Slot(memory.parameters(), slot);
    if (trains) {
      leaf.set_requires_grad(true);
      leaf.mutable_grad() = memory.Slot(gradients_, slot);
      accumulators_.push_back(torch::autograd::impl::grad_accumulator(leaf));
      accumulators_.back()->add_post_hook(std::make_unique<Arrival>(*this, unit_of[slot.node]));
      ++tensors_of_unit_[unit_of[slot.node]];
    }
    LeafOf(nodes_[slot.node], slot.tensor.role) = leaf;
  }
  // Constants are only read: they need no gradients, and frozen norms do not update statistics.
  for (const Layout::Slot& slot : model.constants.slots)
    LeafOf(nodes_[slot.node], slot.tensor.role) = memory.Constant(model, slot);
  for (const Layout::Slot& slot : model.statistics.slots)
    LeafOf(nodes_[slot.node], slot.tensor.role) = memory.Slot(memory.statistics(), slot);
}

void Leaves::BeginBackward(const std::vector<bool>& units, std::function<void(std::size_t)> ready) {
  TRIBUTARY_CHECK(!gradients_of_unit_.empty() || units.empty());
  ready_ = std::move(ready);
  const bool all = !units.empty() && std::ranges::all_of(units, [](bool run) { return run; });
  if (all) gradients_.zero_();
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    missing_of_unit_[unit] = units[unit] ? tensors_of_unit_[unit] : 0;
    if (units[unit] && !all) gradients_of_unit_[unit].zero_();
  }
}

}  // namespace tributary::inline engine
