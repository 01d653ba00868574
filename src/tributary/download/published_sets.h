#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/download/download.h"

namespace tributary::inline download {

struct PublishedFile {
  std::string name;  // also the last part of its URL
  Bytes size;
  Checksum checksum;
};

// A data set as published by its authors, and the parts that data/load.h reads.
struct PublishedSet {
  std::string name;
  std::string address;  // URL of the folder of the files, with a trailing slash
  std::vector<PublishedFile> files;
  // For a set published as an archive: the files to extract into the set's folder. The archive is deleted.
  std::vector<WantedEntry> entries;

  Bytes size() const;
};

// All sets that can be downloaded.
const std::vector<PublishedSet>& PublishedSets();
// How to get or create a known set that cannot be downloaded by a program. Empty for other names.
std::string HowToGet(const std::string& name);

struct FetchOptions {
  std::filesystem::path data_dir;
  // URL of a mirror's folder, in place of the authors'. Checksums stay the same.
  std::string from;
  // Called with the current file and the progress of the whole set. Returning false cancels.
  std::function<bool(const std::string& file, Bytes done, Bytes total)> progress;
};

// Downloads the missing parts of a set into data_dir/NAME, from where it can be loaded.
Status FetchSet(const PublishedSet& set, const FetchOptions& options);

}  // namespace tributary::inline download
