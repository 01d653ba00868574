#pragma once

#include <filesystem>
#include <functional>
#include <string>

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

}  // namespace tributary::inline download
