#include "tributary/model/weights_file.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

#include "tributary/base/check.h"
#include "tributary/base/file.h"

namespace tributary::inline model {
namespace {

constexpr Bytes kLargestFile{16'000'000'000};

std::string FormatSizes(const std::vector<std::int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

// All slots of both layouts with their memory.
template <typename Float>
std::vector<std::pair<const Layout::Slot*, std::span<Float>>> SlotsWithMemory(const Model& model,
                                                                              std::span<Float> parameters,
                                                                              std::span<Float> statistics) {
  TRIBUTARY_CHECK(parameters.size() == model.parameters.size && statistics.size() == model.statistics.size);
  std::vector<std::pair<const Layout::Slot*, std::span<Float>>> slots;
  for (const Layout::Slot& slot : model.parameters.slots)
    slots.emplace_back(&slot, parameters.subspan(slot.segment.offset, slot.segment.count));
  for (const Layout::Slot& slot : model.statistics.slots)
    slots.emplace_back(&slot, statistics.subspan(slot.segment.offset, slot.segment.count));
  return slots;
}

}  // namespace

Status SaveWeights(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                   std::span<const float> statistics, const Metadata& metadata) {
  std::vector<SafetensorsSource> sources;
  for (const Layout::Slot& slot : model.constants.slots) {
    sources.push_back({slot.name, slot.tensor.shape,
                       model.constant_values->span().subspan(slot.segment.offset, slot.segment.count)});
  }
  for (const auto& [slot, values] : SlotsWithMemory(model, parameters, statistics))
    sources.push_back({slot->name, slot->tensor.shape, values});
  return WriteSafetensors(path, sources, metadata);
}

StatusOr<WeightsFile> WeightsFile::Read(const std::filesystem::path& path) {
  WeightsFile file;
  file.path_ = path;
  TRIBUTARY_ASSIGN_OR_RETURN(file.bytes_, ReadFile(path, kLargestFile));
  TRIBUTARY_ASSIGN_OR_RETURN(file.view_, ParseSafetensors(file.bytes_).WithContext(path.string()));
  return file;
}

WeightsFile WeightsFile::Of(const std::filesystem::path& path, const Model& model, FlatBuffer parameters,
                            FlatBuffer statistics, Metadata metadata) {
  WeightsFile file;
  file.path_ = path;
  file.parameters_ = std::move(parameters);
  file.statistics_ = std::move(statistics);
  file.view_.metadata = std::move(metadata);
  for (const auto& [slot, values] :
       SlotsWithMemory(model, file.parameters_.span(), file.statistics_.span())) {
    file.view_.tensors.push_back({slot->name, "F32", slot->tensor.shape, std::as_bytes(values)});
  }
  return file;
}

Status WeightsFile::CopyTo(const Model& model, std::span<float> parameters, std::span<float> statistics,
                           const Fit& fit) const {
  std::unordered_map<std::string_view, const SafetensorsView::Tensor*> tensors;
  for (const auto& tensor : view_.tensors) {
    if (!tensor.name.ends_with(".num_batches_tracked")) tensors.emplace(tensor.name, &tensor);
  }
  auto slots = SlotsWithMemory(model, parameters, statistics);
  const NodeIndex head = model.graph.size() - 1;
  if (fit.new_head) {
    std::erase_if(slots, [&](const auto& slot) { return slot.first->node == head; });
    for (const char* suffix : {".weight", ".bias"}) tensors.erase(model.graph.node(head).name + suffix);
  }
  if (fit.other_norms) {
    for (const Node& node : model.graph.nodes()) {
      if (TraitsOf(node.operation).role != LayerRole::kNorm) continue;
      for (const char* suffix : {".running_mean", ".running_var"}) tensors.erase(node.name + suffix);
    }
  }
  const auto fail = [&](const std::string& reason) {
    return InvalidArgument(path_.string() + " does not fit " + model.graph.name() + ": " + reason);
  };
  for (const auto& [slot, values] : slots) {
    const auto found = tensors.find(slot->name);
    if (found == tensors.end()) return fail("it has no tensor '" + slot->name + "'");
    const SafetensorsView::Tensor& tensor = *found->second;
    if (tensor.dtype != "F32" || tensor.shape != slot->tensor.shape) {
      return fail("tensor '" + slot->name + "' is " + tensor.dtype + " " + FormatSizes(tensor.shape) +
                  ", expected F32 " + FormatSizes(slot->tensor.shape));
    }
  }
  if (tensors.size() != slots.size()) {
    for (const auto& [slot, values] : slots) tensors.erase(slot->name);
    return fail("it also holds " + std::to_string(tensors.size()) +
                " tensors that the network has not, like '" + std::string(tensors.begin()->first) + "'");
  }
  for (const auto& [slot, values] : slots)
    std::memcpy(values.data(), tensors.at(slot->name)->bytes.data(), values.size_bytes());
  return OkStatus();
}

}  // namespace tributary::inline model
