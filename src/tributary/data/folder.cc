#include "tributary/data/folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/base/file.h"

namespace tributary::inline data {
namespace {

template <typename Wanted>
StatusOr<std::vector<std::filesystem::path>> ListEntries(const std::filesystem::path& folder,
                                                         std::size_t most, std::string_view what,
                                                         const Wanted& wanted) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (!wanted(*entry) || entry->path().filename().string().starts_with('.')) continue;
    if (found.size() == most) {
      return ResourceExhausted(
          fmt::format("{} holds more than {} {}, the most that are read", folder.string(), most, what));
    }
    found.push_back(entry->path());
  }
  if (error) return SystemError("cannot list", folder, error.value());
  std::ranges::sort(found, {}, [](const std::filesystem::path& path) { return path.filename().string(); });
  return found;
}

}  // namespace

StatusOr<std::vector<std::filesystem::path>> ListFiles(
    const std::filesystem::path& folder, std::size_t most, std::string_view what,
    const std::function<bool(const std::filesystem::path&)>& wanted) {
  return ListEntries(folder, most, what, [&](const std::filesystem::directory_entry& entry) {
    std::error_code ignored;
    return wanted(entry.path()) && entry.is_regular_file(ignored);
  });
}

StatusOr<std::vector<std::filesystem::path>> ListFolders(const std::filesystem::path& folder,
                                                         std::size_t most) {
  return ListEntries(folder, most, "folders", [](const std::filesystem::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_directory(ignored);
  });
}

}  // namespace tributary::inline data
