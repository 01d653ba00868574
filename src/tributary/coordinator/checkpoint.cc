#include "tributary/coordinator/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "tributary/base/file.h"
#include "tributary/model/safetensors_header.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline coordinator {
namespace {

constexpr std::string_view kPrefix = "round-";
constexpr std::string_view kSuffix = ".checkpoint";

// At least eight digits, so that names sort by round.
std::string NameOfRound(std::uint64_t round) { return fmt::format("{}{:08}{}", kPrefix, round, kSuffix); }

// Empty if no checkpoint has this name.
std::optional<std::uint64_t> RoundOfName(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t round = 0;
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, round);
  if (error != std::errc() || stop != end || NameOfRound(round) != name) return std::nullopt;
  return round;
}

// The folder's checkpoints, oldest first, and temporary files of killed processes.
struct Listing {
  std::map<std::uint64_t, std::filesystem::path> checkpoints;
  std::vector<std::filesystem::path> leftovers;
};

StatusOr<Listing> ListOf(const std::filesystem::path& folder) {
  Listing listing;
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error == std::errc::no_such_file_or_directory) return listing;
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    if (const auto round = RoundOfName(name)) listing.checkpoints.emplace(*round, files->path());
    if (RoundOfName(TargetOfTemporary(name))) listing.leftovers.push_back(files->path());
  }
  if (error) return IoError("cannot list the checkpoints in " + folder.string() + ": " + error.message());
  return listing;
}

StatusOr<CheckpointFile> ReadRound(const std::filesystem::path& path, std::uint64_t round) {
  TRIBUTARY_ASSIGN_OR_RETURN(CheckpointFile file, CheckpointFile::Read(path));
  const std::uint64_t found = file.checkpoint().progress.round;
  if (found == round) return file;
  return Corrupt(fmt::format("the checkpoint {} is one of round {}", path.string(), found));
}

constexpr const char* kStateKey = "tributary.checkpoint";
constexpr const char* kChecksumKey = "tributary.checksum";
constexpr const char* kShared = "shared";
constexpr Bytes kLargestFile{64'000'000'000};

// Covers the JSON and every array's name and values, each after its length: bytes cannot move between them.
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
  if (found != view.metadata.end()) return found->second;
  return Corrupt(fmt::format("its metadata has no '{}'; this is no checkpoint", key));
}

// The members' shared samples one after the other, padded to floats.
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
    return Corrupt("its checksum is wrong: the file was changed after it was written");
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
      return InvalidArgument(fmt::format("the checkpoint's array '{}' has {} values, expected {}",
                                         target.name, tensor->bytes.size() / sizeof(float),
                                         target.values.size()));
    }
  }
  for (const SafetensorsView::Tensor& tensor : view_.tensors) {
    if (tensor.name != kShared && std::ranges::find(targets, tensor.name, &Target::name) == targets.end()) {
      return InvalidArgument(
          fmt::format("the checkpoint has an array {} that nothing here uses", QuoteName(tensor.name)));
    }
  }
  for (const Target& target : targets) {
    if (target.values.empty()) continue;
    std::memcpy(target.values.data(), find(target.name)->bytes.data(), target.values.size_bytes());
  }
  return OkStatus();
}

Status SaveCheckpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                      std::span<const SafetensorsSource> arrays, std::size_t keep) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(folder));
    TRIBUTARY_RETURN_IF_ERROR(SyncFolder(folder / ".."));
  }
  TRIBUTARY_RETURN_IF_ERROR(
      WriteCheckpoint(folder / NameOfRound(checkpoint.progress.round), checkpoint, arrays));
  TRIBUTARY_RETURN_IF_ERROR(SyncFolder(folder));
  TRIBUTARY_ASSIGN_OR_RETURN(const Listing listing, ListOf(folder));
  std::size_t superfluous = listing.checkpoints.size() - std::min(keep, listing.checkpoints.size());
  for (const auto& [round, path] : listing.checkpoints) {
    if (superfluous-- == 0 || round >= checkpoint.progress.round) break;
    std::filesystem::remove(path, error);  // removed next time if this fails
  }
  return OkStatus();
}

StatusOr<NewestCheckpoint> LoadNewestCheckpoint(const std::filesystem::path& folder) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Listing listing, ListOf(folder));
  std::error_code error;
  for (const std::filesystem::path& path : listing.leftovers) std::filesystem::remove(path, error);
  NewestCheckpoint newest;
  std::vector<std::filesystem::path> unreadable;
  for (auto entry = listing.checkpoints.rbegin(); entry != listing.checkpoints.rend() && !newest.file;
       ++entry) {
    auto file = ReadRound(entry->second, entry->first);
    if (file.ok()) {
      newest.file = std::move(file).value();
      continue;
    }
    newest.problems.push_back(file.status().message());
    unreadable.push_back(entry->second);
  }
  if (!newest.file && !unreadable.empty()) {
    return Corrupt(fmt::format("none of the {} checkpoints in {} can be read; the newest: {}",
                               unreadable.size(), folder.string(), newest.problems.front()));
  }
  // Renamed, so that they do not count as newer than later checkpoints.
  for (const std::filesystem::path& path : unreadable) {
    std::filesystem::rename(path, path.string() + ".unreadable", error);
  }
  return newest;
}

}  // namespace tributary::inline coordinator
