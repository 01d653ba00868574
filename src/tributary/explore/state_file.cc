#include "tributary/explore/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "tributary/model/safetensors.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline explore {
namespace {

constexpr const char* kExplorationKey = "tributary.exploration";
constexpr const char* kDigestKey = "tributary.checksum";
constexpr Bytes kLargestStateFile{64'000'000'000};

std::string ArrayName(std::size_t snapshot, const char* what) {
  return fmt::format("snapshot.{}.{}", snapshot, what);
}

StatusOr<std::string> StateText(const SafetensorsView& view) {
  const auto text = view.metadata.find(kExplorationKey);
  const auto checksum = view.metadata.find(kDigestKey);
  if (text == view.metadata.end() || checksum == view.metadata.end())
    return Corrupt("it is not the state of an exploration");
  Digest digest;
  digest.Add(std::as_bytes(std::span(text->second)));
  for (const SafetensorsView::Tensor& tensor : view.tensors) digest.Add(tensor.bytes);
  if (digest.Hex() != checksum->second)
    return Corrupt("its checksum is wrong: the file has changed since it was written");
  return text->second;
}

Status CopyArray(const SafetensorsView& view, const std::string& name, std::span<float> to) {
  if (to.empty()) return OkStatus();
  const auto found = std::ranges::find(view.tensors, name, &SafetensorsView::Tensor::name);
  if (found == view.tensors.end()) return Corrupt("it has no array '" + name + "'");
  if (found->dtype != "F32" || found->bytes.size() != to.size_bytes())
    return Corrupt(fmt::format("its array '{}' is not one of {} 32-bit floats", name, to.size()));
  std::memcpy(to.data(), found->bytes.data(), to.size_bytes());
  if (!std::ranges::all_of(to, [](float value) { return std::isfinite(value); }))
    return Corrupt("its array '" + name + "' contains values that are not finite");
  return OkStatus();
}

// Checks that candidates are unique and fit the network.
Status CheckCandidates(const ExplorationState& state, const Model& model) {
  const auto& groups = model.channels.groups;
  std::set<std::vector<std::int64_t>> seen;
  for (std::size_t i = 0; i < state.candidates.size(); ++i) {
    const std::vector<std::int64_t>& kept = state.candidates[i].kept;
    bool fits = kept.size() == groups.size();
    for (std::size_t g = 0; fits && g < groups.size(); ++g) fits = kept[g] >= 1 && kept[g] <= groups[g].atoms;
    if (!fits)
      return Corrupt(fmt::format("its candidate {} is not a sub-network of {}", i, model.graph.name()));
    if (!seen.insert(kept).second) return Corrupt(fmt::format("its candidate {} is a duplicate", i));
  }
  return OkStatus();
}

StatusOr<SavedExploration> ReadSaved(ByteSpan bytes, const Model& model,
                                     const std::map<std::string, std::string>& setup) {
  TRIBUTARY_ASSIGN_OR_RETURN(const SafetensorsView view, ParseSafetensors(bytes));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string text, StateText(view));
  SavedExploration saved;
  TRIBUTARY_ASSIGN_OR_RETURN(saved.state, ParseExplorationState(text));
  TRIBUTARY_RETURN_IF_ERROR(CheckSameSetup(saved.state.setup, setup));
  TRIBUTARY_RETURN_IF_ERROR(CheckCandidates(saved.state, model));
  const std::size_t arrays = model.statistics.size > 0 ? 2 : 1;
  const std::size_t there = view.tensors.size();
  if (there % arrays != 0 || there > arrays * kSnapshots)
    return Corrupt(fmt::format("it has {} arrays, which is not a number of snapshots", there));
  for (std::size_t i = 0; i < there / arrays; ++i) {
    Snapshot& snapshot = saved.snapshots.emplace_back(model);
    TRIBUTARY_RETURN_IF_ERROR(CopyArray(view, ArrayName(i, "parameters"), snapshot.parameters.span()));
    TRIBUTARY_RETURN_IF_ERROR(CopyArray(view, ArrayName(i, "statistics"), snapshot.statistics.span()));
  }
  const bool searched = saved.state.search.generation > 0 || !saved.state.candidates.empty();
  if (searched &&
      (!saved.state.cost_model || !saved.state.untrained || saved.snapshots.size() < kSnapshots)) {
    return Corrupt("it has candidates, and not what they were evaluated with");
  }
  return saved;
}

}  // namespace

Status WriteExplorationState(const std::filesystem::path& path, const ExplorationState& state,
                             const std::vector<Snapshot>& snapshots) {
  const std::string text = FormatExplorationState(state);
  std::vector<SafetensorsSource> arrays;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    for (const auto& [what, buffer] :
         {std::pair{"parameters", &snapshots[i].parameters}, {"statistics", &snapshots[i].statistics}}) {
      if (buffer->size() == 0) continue;
      arrays.push_back({ArrayName(i, what), {static_cast<std::int64_t>(buffer->size())}, buffer->span()});
    }
  }
  Digest digest;
  digest.Add(std::as_bytes(std::span(text)));
  for (const SafetensorsSource& array : arrays) digest.Add(std::as_bytes(array.values));
  return WriteSafetensors(path, arrays, {{kExplorationKey, text}, {kDigestKey, digest.Hex()}});
}

StatusOr<SavedExploration> ReadExplorationState(const std::filesystem::path& path, const Model& model,
                                                const std::map<std::string, std::string>& setup) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path, kLargestStateFile));
  auto saved = ReadSaved(bytes, model, setup);
  if (!saved.ok()) return std::move(saved).status().WithContext(path.string());
  return saved;
}

}  // namespace tributary::inline explore
