#include "tributary/coordinator/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "tributary/base/file.h"

namespace tributary::inline coordinator {
namespace {

constexpr std::string_view kPrefix = "round-";
constexpr std::string_view kSuffix = ".checkpoint";
constexpr std::size_t kDigits = 8;  // at least, so that names sort as their rounds

std::string NameOfRound(std::uint64_t round) {
  const std::string digits = std::to_string(round);
  const std::size_t zeros = kDigits - std::min(kDigits, digits.size());
  return std::string(kPrefix) + std::string(zeros, '0') + digits + std::string(kSuffix);
}

// Nothing if no checkpoint has that name.
std::optional<std::uint64_t> RoundOfName(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t round = 0;
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, round);
  if (error != std::errc() || stop != end || NameOfRound(round) != name) return std::nullopt;
  return round;
}

// The folder's checkpoints, oldest first; and what killed processes left of theirs.
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
  return Corrupt("the checkpoint " + path.string() + " is one of round " + std::to_string(found));
}

}  // namespace

Status SaveCheckpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                      std::span<const SafetensorsSource> arrays, std::size_t keep) {
  std::error_code error;
  if (std::filesystem::create_directory(folder, error)) {
    TRIBUTARY_RETURN_IF_ERROR(SyncFolder(folder / ".."));
  } else if (error) {
    return IoError("cannot make the folder " + folder.string() + ": " + error.message());
  }
  TRIBUTARY_RETURN_IF_ERROR(
      WriteCheckpoint(folder / NameOfRound(checkpoint.progress.round), checkpoint, arrays));
  TRIBUTARY_RETURN_IF_ERROR(SyncFolder(folder));
  TRIBUTARY_ASSIGN_OR_RETURN(const Listing listing, ListOf(folder));
  std::size_t superfluous = listing.checkpoints.size() - std::min(keep, listing.checkpoints.size());
  for (const auto& [round, path] : listing.checkpoints) {
    if (superfluous-- == 0 || round >= checkpoint.progress.round) break;
    std::filesystem::remove(path, error);  // one that stays only takes room, until the next time
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
    return Corrupt("none of the " + std::to_string(unreadable.size()) + " checkpoints in " + folder.string() +
                   " can be read; the newest: " + newest.problems.front());
  }
  // Out of the way of those to come, which are counted by their rounds.
  for (const std::filesystem::path& path : unreadable) {
    std::filesystem::rename(path, path.string() + ".unreadable", error);
  }
  return newest;
}

}  // namespace tributary::inline coordinator
