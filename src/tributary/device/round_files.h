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

// What a device remembers from round to round, as files of its state folder: one for each round, PREFIXround.safetensors.
struct RoundFiles {
  std::string_view prefix;

  Status MakeFolder(const std::filesystem::path& folder) const;
  std::filesystem::path PathOf(const std::filesystem::path& folder, RoundId round) const;
  // Those that there are, by falling number.
  std::vector<RoundId> Rounds(const std::filesystem::path& folder) const;
  // Of this prefix; files of other names stay.
  void RemoveAllBut(const std::filesystem::path& folder, std::initializer_list<RoundId> kept) const;
};

// A whole number among a file's metadata; Corrupt if there is none.
StatusOr<std::uint64_t> NumberIn(const std::filesystem::path& path,
                                 const std::map<std::string, std::string>& metadata, const std::string& key);

}  // namespace tributary::inline device
