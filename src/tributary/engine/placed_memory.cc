#include "tributary/engine/placed_memory.h"

#include "tributary/base/check.h"

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

}  // namespace tributary::inline engine
