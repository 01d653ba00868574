#include "tributary/engine/placed_memory.h"

#include <torch/version.h>

#include <cmath>

#include "tributary/base/check.h"

#define TRIBUTARY_FUSED_SGD \
  (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3))

namespace tributary::inline engine {
namespace {

at::Tensor Here(std::span<float> memory) {
  return at::from_blob(memory.data(), {static_cast<std::int64_t>(memory.size())}, at::kFloat);
}

at::Tensor Part(const at::Tensor& flat, const Segment& segment) {
  return flat.narrow(0, static_cast<std::int64_t>(segment.offset), static_cast<std::int64_t>(segment.count));
}

at::Tensor SlotHere(std::span<float> memory, const Layout::Slot& slot) {
  return at::from_blob(memory.data() + slot.segment.offset, slot.tensor.shape, at::kFloat);
}

}  // namespace

PlacedMemory::PlacedMemory(const Model& model, const NetworkMemory& memory, TorchDevice device,
                           bool channels_last)
    : layout_(model.parameters),
      statistics_layout_(model.statistics),
      slots_of_unit_(model.units.size()),
      memory_(memory),
      elsewhere_(device != TorchDevice::kCpu),
      channels_last_(elsewhere_ && channels_last),
      device_(elsewhere_ ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)) {
  TRIBUTARY_CHECK(memory.parameters.size() == model.parameters.size);
  TRIBUTARY_CHECK(memory.statistics.size() == model.statistics.size);
  TRIBUTARY_CHECK(memory.gradients.empty() || memory.gradients.size() == model.parameters.size);
  std::size_t unit = 0;
  for (const Layout::Slot& slot : layout_.slots) {
    while (slot.segment.offset >= layout_.units[unit].end()) ++unit;
    slots_of_unit_[unit].push_back(&slot);
  }
  const auto placed = [&](std::span<float> here) {
    return elsewhere_ ? at::zeros_like(Here(here), device_) : Here(here);
  };
  parameters_ = placed(memory.parameters);
  statistics_ = placed(memory.statistics);
  if (!memory.gradients.empty()) gradients_ = placed(memory.gradients);
}

at::Tensor PlacedMemory::Slot(const at::Tensor& flat, const Layout::Slot& slot) const {
  float* const data = flat.data_ptr<float>() + slot.segment.offset;
  const auto& shape = slot.tensor.shape;
  if (!channels_last_ || shape.size() != 4) return at::from_blob(data, shape, flat.options());
  const std::vector<std::int64_t> strides = {shape[1] * shape[2] * shape[3], 1, shape[3] * shape[1],
                                             shape[1]};
  return at::from_blob(data, shape, strides, flat.options());
}

at::Tensor PlacedMemory::Constant(const Model& model, const Layout::Slot& slot) const {
  const std::span<const float> values = model.constant_values->span();
  return SlotHere({const_cast<float*>(values.data()), values.size()}, slot).to(device_);
}

void PlacedMemory::CopyUnit(std::size_t unit, const at::Tensor& flat, std::span<float> here,
                            bool bring) const {
  const auto copy = [&](at::Tensor there, at::Tensor mine) { bring ? there.copy_(mine) : mine.copy_(there); };
  if (!channels_last_) {
    if (layout_.units[unit].count > 0)
      copy(Part(flat, layout_.units[unit]), Part(Here(here), layout_.units[unit]));
    return;
  }
  for (const Layout::Slot* slot : slots_of_unit_[unit]) copy(Slot(flat, *slot), SlotHere(here, *slot));
}

void PlacedMemory::Bring(std::span<const float> from, const at::Tensor& flat) const {
  const std::span<float> here(const_cast<float*>(from.data()), from.size());
  for (std::size_t unit = 0; unit < slots_of_unit_.size(); ++unit) CopyUnit(unit, flat, here, true);
}

void PlacedMemory::Fetch(const at::Tensor& flat, std::span<float> to) const {
  for (std::size_t unit = 0; unit < slots_of_unit_.size(); ++unit) CopyUnit(unit, flat, to, false);
}

void PlacedMemory::BringUnit(std::size_t unit) {
  if (!elsewhere_) return;
  CopyUnit(unit, parameters_, memory_.parameters, true);
  const Segment& statistics = statistics_layout_.units[unit];
  if (statistics.count > 0) Part(statistics_, statistics).copy_(Part(Here(memory_.statistics), statistics));
}

void PlacedMemory::BringAll() {
  if (!elsewhere_) return;
  Bring(memory_.parameters, parameters_);
  if (!memory_.statistics.empty()) statistics_.copy_(Here(memory_.statistics));
}

void PlacedMemory::FetchGradient(std::size_t unit) {
  if (elsewhere_) CopyUnit(unit, gradients_, memory_.gradients, false);
}

void PlacedMemory::FetchStatistics() {
  if (elsewhere_ && !memory_.statistics.empty()) Here(memory_.statistics).copy_(statistics_);
}

void PlacedMemory::FetchParameters() {
  if (elsewhere_) Fetch(parameters_, memory_.parameters);
}

ResidentOptimiser::ResidentOptimiser(const OptimiserOptions& options, const PlacedMemory& memory,
                                     Optimiser* state)
    : options_(options), memory_(memory), state_(state) {
  const std::size_t arrays = options.name == "adam" ? 2 : options.momentum > 0 ? 1 : 0;
  for (std::size_t i = 0; i < arrays; ++i) arrays_.push_back(at::zeros_like(memory.parameters()));
  if (state_ == nullptr) return;
  steps_ = state_->steps();
  const auto kept = state_->State();
  for (std::size_t i = 0; i < arrays; ++i) memory_.Bring(kept[i].values, arrays_[i]);
}

void ResidentOptimiser::Step(at::Tensor parameters, at::Tensor gradients, double learning_rate) {
  ++steps_;
#if TRIBUTARY_FUSED_SGD
  // One pass over memory instead of five.
  if (parameters.is_cuda() && options_.name == "sgd" && options_.momentum > 0) {
    at::_fused_sgd_({parameters}, {gradients}, {arrays_[0]}, options_.weight_decay, options_.momentum,
                    learning_rate,
                    /*dampening=*/0, options_.nesterov, /*maximize=*/false, /*is_first_step=*/false);
    return;
  }
#endif
  if (options_.weight_decay > 0) gradients.add_(parameters, options_.weight_decay);
  if (options_.name == "adam") {
    StepAdam(parameters, gradients, learning_rate);
  } else {
    StepSgd(parameters, gradients, learning_rate);
  }
}

void ResidentOptimiser::StepSgd(at::Tensor& parameters, at::Tensor& gradients, double learning_rate) {
  if (options_.momentum > 0) {
    at::Tensor& momentum = arrays_[0];
    momentum.mul_(options_.momentum).add_(gradients);
    if (!options_.nesterov) {
      parameters.add_(momentum, -learning_rate);
      return;
    }
    gradients.add_(momentum, options_.momentum);
  }
  parameters.add_(gradients, -learning_rate);
}

void ResidentOptimiser::StepAdam(at::Tensor& parameters, at::Tensor& gradients, double learning_rate) {
  at::Tensor& mean = arrays_[0];
  at::Tensor& square = arrays_[1];
  mean.mul_(options_.beta1).add_(gradients, 1 - options_.beta1);
  square.mul_(options_.beta2).addcmul_(gradients, gradients, 1 - options_.beta2);
  const double correction = std::sqrt(1 - std::pow(options_.beta2, static_cast<double>(steps_)));
  const at::Tensor scale = square.sqrt().div_(correction).add_(options_.epsilon);
  parameters.addcdiv_(mean, scale,
                      -learning_rate / (1 - std::pow(options_.beta1, static_cast<double>(steps_))));
}

void ResidentOptimiser::Store() {
  if (state_ == nullptr) return;
  const auto kept = state_->State();
  for (std::size_t i = 0; i < arrays_.size(); ++i) memory_.Fetch(arrays_[i], kept[i].values);
  state_->set_steps(steps_);
}

}  // namespace tributary::inline engine
