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
  std::string url;  // http or https, and so is whatever it redirects to
  std::filesystem::path file;
  Checksum checksum;
  Bytes most{2'000'000'000};  // More than this is not taken.
  int redirects = 5;
  // Called now and then with what is there and what there will be, 0 if nobody knows; false gives up.
  std::function<bool(Bytes done, Bytes total)> progress;
};

// Gets a file that somebody publishes with a check sum. What has come lies in `file`.part and is gone on from the next time;
// only what has the right sum takes the name `file`, at once. A file that is there and right is not got again; one with
// another sum is an error. Cancelled when `progress` says so.
Status Download(const DownloadOptions& options);

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
