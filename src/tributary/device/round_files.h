#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/base/status.h"

namespace tributary::inline device {

// State of a device per round, in files of its state folder: PREFIXround.safetensors.
struct RoundFiles {
  std::string_view prefix;

  Status MakeFolder(const std::filesystem::path& folder) const;
  std::filesystem::path PathOf(const std::filesystem::path& folder, RoundId round) const;
  // Rounds with a file, newest first.
  std::vector<RoundId> Rounds(const std::filesystem::path& folder) const;
  // Removes only files with this prefix.
  void RemoveAllBut(const std::filesystem::path& folder, std::initializer_list<RoundId> kept) const;
};

// An integer in a file's metadata; Corrupt if it is missing.
StatusOr<std::uint64_t> NumberIn(const std::filesystem::path& path,
                                 const std::map<std::string, std::string>& metadata, const std::string& key);

}  // namespace tributary::inline device
