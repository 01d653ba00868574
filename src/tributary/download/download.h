#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/keys/checksum.h"

namespace tributary::inline download {

struct DownloadOptions {
  std::string url;  // http or https, also after redirects
  std::filesystem::path file;
  Checksum checksum;
  Bytes most{2'000'000'000};  // maximum size
  int redirects = 5;
  // Called periodically with the bytes present and expected (0 if unknown); false cancels the download.
  std::function<bool(Bytes done, Bytes total)> progress;
};

// Downloads a file with a published checksum. Partial data stays in `file`.part, and the next call resumes
// it; only data with the right checksum is renamed to `file`. An existing file with the right checksum is not
// downloaded again, one with another is an error. Cancelled if `progress` returns false.
Status Download(const DownloadOptions& options);

// A file to extract from an archive.
struct WantedEntry {
  std::string name;            // in the archive
  std::filesystem::path file;  // destination
  Bytes size{0};               // expected
};

// Extracts only the wanted files of an archive (.tar, .tar.gz or .zip), each atomically; no name in the
// archive determines where anything is written. A missing file, or a file of another size, is an error.
Status Unpack(const std::filesystem::path& archive, const std::vector<WantedEntry>& wanted);

}  // namespace tributary::inline download
