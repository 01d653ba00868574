#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline download {

// A file of an archive that is wanted.
struct WantedEntry {
  std::string name;            // as the archive calls it
  std::filesystem::path file;  // where it goes
  Bytes size{0};               // that it must have
};

// Unpacks the wanted files of an archive (.tar, .tar.gz or .zip), and nothing else: no name in the
// archive says where anything is written. Each takes its name once it is whole. What is missing, or has another size, is an
// error.
Status Unpack(const std::filesystem::path& archive, const std::vector<WantedEntry>& wanted);

}  // namespace tributary::inline download
