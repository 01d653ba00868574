#include "tributary/device/round_files.h"

#include <algorithm>
#include <optional>

#include "tributary/base/file.h"
#include "tributary/base/parse_number.h"

namespace tributary::inline device {
namespace {

constexpr std::string_view kSuffix = ".safetensors";

// The round of the file with this name.
std::optional<RoundId> RoundOfFile(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix) || name.size() < prefix.size() + kSuffix.size())
    return {};
  RoundId round;
  if (!ParseExactly(name.substr(prefix.size(), name.size() - prefix.size() - kSuffix.size()), round.value))
    return {};
  return round;
}

}  // namespace

Status RoundFiles::MakeFolder(const std::filesystem::path& folder) const {
  return MakePrivateFolders(folder);
}

std::filesystem::path RoundFiles::PathOf(const std::filesystem::path& folder, RoundId round) const {
  return folder / (std::string(prefix) + std::to_string(round.value) + std::string(kSuffix));
}

std::vector<RoundId> RoundFiles::Rounds(const std::filesystem::path& folder) const {
  std::error_code error;
  std::vector<RoundId> rounds;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (const auto round = RoundOfFile(prefix, entry.path().filename().string())) rounds.push_back(*round);
  }
  std::ranges::sort(rounds, std::greater<>());
  return rounds;
}

void RoundFiles::RemoveAllBut(const std::filesystem::path& folder,
                              std::initializer_list<RoundId> kept) const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto round = RoundOfFile(prefix, entry.path().filename().string());
    if (round && std::ranges::find(kept, *round) == kept.end()) std::filesystem::remove(entry.path(), error);
  }
}

StatusOr<std::uint64_t> NumberIn(const std::filesystem::path& path,
                                 const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  std::uint64_t number = 0;
  if (found != metadata.end() && ParseExactly(found->second, number)) return number;
  return Corrupt(path.string() + ": '" + key + "' is not a number");
}

}  // namespace tributary::inline device
