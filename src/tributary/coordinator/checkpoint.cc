#include "tributary/coordinator/checkpoint.h"

#include <algorithm>
#include <cstring>

#include "tributary/coordinator/checkpoint_json.h"
#include "tributary/model/safetensors_header.h"
#include "tributary/telemetry/digest.h"

namespace tributary {
namespace {

constexpr const char* kStateKey = "tributary.checkpoint";
constexpr const char* kChecksumKey = "tributary.checksum";
constexpr const char* kShared = "shared";
constexpr Bytes kLargestFile{64'000'000'000};

// Over the JSON and, array by array, name and values. Lengths go in first, so that nothing can move from one to another.
class Checksum {
 public:
  explicit Checksum(std::string_view state) { Add(std::as_bytes(std::span(state))); }

  void Add(std::string_view name, ByteSpan values) {
    Add(std::as_bytes(std::span(name)));
    Add(values);
  }
  std::string Hex() const { return digest_.Hex(); }

 private:
  void Add(ByteSpan bytes) {
    const std::uint64_t size = bytes.size();
    digest_.Add(std::as_bytes(std::span(&size, 1)));
    digest_.Add(bytes);
  }

  Digest digest_;
};

StatusOr<std::string> Metadatum(const SafetensorsView& view, const char* key) {
  const auto found = view.metadata.find(key);
  if (found == view.metadata.end()) {
    return Corrupt(std::string("its metadata has no '") + key + "'; this is no checkpoint");
  }
  return found->second;
}

// One member's after the other's, as many floats as they take.
std::vector<float> JoinShared(std::span<const FleetMember> members) {
  std::vector<std::byte> bytes;
  for (const FleetMember& member : members)
    bytes.insert(bytes.end(), member.shared.begin(), member.shared.end());
  std::vector<float> joined((bytes.size() + sizeof(float) - 1) / sizeof(float));
  if (!bytes.empty()) std::memcpy(joined.data(), bytes.data(), bytes.size());
  return joined;
}

}  // namespace

Status WriteCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                       std::span<const SafetensorsSource> others) {
  std::vector<SafetensorsSource> arrays(others.begin(), others.end());
  const std::vector<float> shared = JoinShared(checkpoint.members);
  if (!shared.empty()) arrays.push_back({kShared, {static_cast<std::int64_t>(shared.size())}, shared});
  auto state = FormatCheckpoint(checkpoint);
  if (!state.ok()) return std::move(state).status().WithContext("cannot write " + path.string());
  Checksum checksum(*state);
  for (const SafetensorsSource& array : arrays) checksum.Add(array.name, std::as_bytes(array.values));
  return WriteSafetensors(path, arrays, {{kStateKey, *state}, {kChecksumKey, checksum.Hex()}});
}

StatusOr<CheckpointFile> CheckpointFile::Parse(std::vector<std::byte> bytes) {
  CheckpointFile file;
  file.bytes_ = std::move(bytes);
  TRIBUTARY_ASSIGN_OR_RETURN(file.view_, ParseSafetensors(file.bytes_));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string state, Metadatum(file.view_, kStateKey));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string expected, Metadatum(file.view_, kChecksumKey));
  Checksum checksum(state);
  for (const SafetensorsView::Tensor& tensor : file.view_.tensors) {
    if (tensor.dtype != "F32" || tensor.shape.size() != 1) {
      return Corrupt("its array " + QuoteName(tensor.name) + " is not a row of 32-bit floats");
    }
    checksum.Add(tensor.name, tensor.bytes);
  }
  if (checksum.Hex() != expected)
    return Corrupt("its checksum is wrong: bytes of it have changed since it was written");
  const auto shared = std::ranges::find(file.view_.tensors, kShared, &SafetensorsView::Tensor::name);
  ByteSpan bytes_shared = shared == file.view_.tensors.end() ? ByteSpan() : shared->bytes;
  TRIBUTARY_ASSIGN_OR_RETURN(file.checkpoint_, ParseCheckpoint(state, bytes_shared.size()));
  for (FleetMember& member : file.checkpoint_.members) {
    std::ranges::copy(bytes_shared.first(member.shared.size()), member.shared.begin());
    bytes_shared = bytes_shared.subspan(member.shared.size());
  }
  return file;
}

StatusOr<CheckpointFile> CheckpointFile::Read(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, ReadFile(path, kLargestFile));
  auto file = Parse(std::move(bytes));
  if (!file.ok()) return std::move(file).status().WithContext("the checkpoint " + path.string());
  return file;
}

Status CheckpointFile::CopyTo(std::span<const Target> targets) const {
  const auto find = [&](const std::string& name) {
    return std::ranges::find(view_.tensors, name, &SafetensorsView::Tensor::name);
  };
  for (const Target& target : targets) {
    const auto tensor = find(target.name);
    if (tensor == view_.tensors.end())
      return InvalidArgument("the checkpoint has no array '" + target.name + "'");
    if (tensor->bytes.size() != target.values.size_bytes()) {
      return InvalidArgument("the checkpoint's array '" + target.name + "' has " +
                             std::to_string(tensor->bytes.size() / sizeof(float)) + " values, expected " +
                             std::to_string(target.values.size()));
    }
  }
  for (const SafetensorsView::Tensor& tensor : view_.tensors) {
    if (tensor.name != kShared && std::ranges::find(targets, tensor.name, &Target::name) == targets.end()) {
      return InvalidArgument("the checkpoint has an array " + QuoteName(tensor.name) +
                             " that nothing here uses");
    }
  }
  for (const Target& target : targets) {
    if (!target.values.empty()) {
      std::memcpy(target.values.data(), find(target.name)->bytes.data(), target.values.size_bytes());
    }
  }
  return OkStatus();
}

}  // namespace tributary
