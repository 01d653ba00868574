#pragma once

#include <filesystem>
#include <string>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline keys {

// Key files: small texts, secrets readable only by their owner, and folders that appear atomically.

// Reads a text file of at most 16 MiB.
StatusOr<std::string> ReadText(const std::filesystem::path& path);

// An exclusive lock on a folder between processes; Take waits for it. Released with the object, or when the
// process ends for any reason.
class FolderLock {
 public:
  static StatusOr<FolderLock> Take(const std::filesystem::path& folder);

 private:
  explicit FolderLock(Descriptor folder) : folder_(std::move(folder)) {}

  Descriptor folder_;
};

// A folder that is filled under a temporary name beside `target` (mode 0700) and then renamed, so that no
// crash leaves an incomplete folder. Create removes the rest of an interrupted attempt; the destructor
// removes a folder that was not renamed. Two at a time for one target are a bug: hold a lock.
class StagedFolder {
 public:
  static StatusOr<StagedFolder> Create(const std::filesystem::path& target);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  ~StagedFolder();

  const std::filesystem::path& path() const { return path_; }

  // Renames the folder to the target; fails if a non-empty folder has that name.
  Status Publish() &&;
  // The same, after removing an existing folder of that name. An interruption between the two leaves neither.
  Status Replace() &&;

 private:
  StagedFolder(std::filesystem::path path, std::filesystem::path target)
      : path_(std::move(path)), target_(std::move(target)) {}

  std::filesystem::path path_;
  std::filesystem::path target_;
};

Status MakePrivateFolder(const std::filesystem::path& path);

}  // namespace tributary::inline keys
