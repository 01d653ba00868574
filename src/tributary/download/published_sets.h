#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/download/download.h"

namespace tributary::inline download {

struct PublishedFile {
  std::string name;  // also the last part of its address
  Bytes size;
  Checksum checksum;
};

// A data set as its authors publish it, and what of it data/load.h reads.
struct PublishedSet {
  std::string name;
  std::string address;  // of the folder that the files lie in, with a slash at its end
  std::vector<PublishedFile> files;
  // Where the files are archives, what is taken out of them; paths are below the set's own folder. The archive goes then.
  std::vector<WantedEntry> entries;

  Bytes size() const;
};

// Those that can be got.
const std::vector<PublishedSet>& PublishedSets();
// How one that is known, but cannot be got by a program, is come by. Empty for others.
std::string HowToGet(const std::string& name);

struct FetchOptions {
  std::filesystem::path data_dir;
  // A mirror: the folder that the files lie in, in place of the authors'. Check sums are the same.
  std::string from;
  // What is under way, and how far all of it is; false gives up.
  std::function<bool(const std::string& file, Bytes done, Bytes total)> progress;
};

// Gets a set into a folder of its name under `data_dir`, or what is missing of it. Afterwards it can be loaded from there.
Status FetchSet(const PublishedSet& set, const FetchOptions& options);

}  // namespace tributary::inline download
