#include "tributary/engine/placed_memory.h"

#include "tributary/base/check.h"

namespace tributary {
namespace {

at::Tensor Here(std::span<float> memory) {
  return at::from_blob(memory.data(), {static_cast<std::int64_t>(memory.size())}, at::kFloat);
}

at::Tensor Part(const at::Tensor& flat, const Segment& segment) {
  return flat.narrow(0, static_cast<std::int64_t>(segment.offset), static_cast<std::int64_t>(segment.count));
}

}  // namespace

PlacedMemory::PlacedMemory(const Model& model, const NetworkMemory& memory, TorchDevice device)
    : parameter_units_(model.parameters.units),
      statistic_units_(model.statistics.units),
      memory_(memory),
      elsewhere_(device != TorchDevice::kCpu),
      device_(elsewhere_ ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)) {
  TRIBUTARY_CHECK(memory.parameters.size() == model.parameters.size);
  TRIBUTARY_CHECK(memory.statistics.size() == model.statistics.size);
  TRIBUTARY_CHECK(memory.gradients.empty() || memory.gradients.size() == model.parameters.size);
  const auto placed = [&](std::span<float> here) { return elsewhere_ ? at::zeros_like(Here(here), device_) : Here(here); };
  parameters_ = placed(memory.parameters);
  statistics_ = placed(memory.statistics);
  if (!memory.gradients.empty()) gradients_ = placed(memory.gradients);
}

void PlacedMemory::BringUnit(std::size_t unit) {
  if (!elsewhere_) return;
  const auto bring = [](const at::Tensor& to, std::span<float> from, const Segment& segment) {
    if (segment.count > 0) Part(to, segment).copy_(Part(Here(from), segment));
  };
  bring(parameters_, memory_.parameters, parameter_units_[unit]);
  bring(statistics_, memory_.statistics, statistic_units_[unit]);
}

void PlacedMemory::BringAll() {
  if (!elsewhere_) return;
  parameters_.copy_(Here(memory_.parameters));
  if (!memory_.statistics.empty()) statistics_.copy_(Here(memory_.statistics));
}

void PlacedMemory::FetchGradient(std::size_t unit) {
  const Segment& segment = parameter_units_[unit];
  if (elsewhere_ && segment.count > 0) Part(Here(memory_.gradients), segment).copy_(Part(gradients_, segment));
}

void PlacedMemory::FetchStatistics() {
  if (elsewhere_ && !memory_.statistics.empty()) Here(memory_.statistics).copy_(statistics_);
}

void PlacedMemory::FetchParameters() {
  if (elsewhere_) Here(memory_.parameters).copy_(parameters_);
}

}  // namespace tributary
