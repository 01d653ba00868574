#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// The files of keys on disk: small texts, secrets that only their owner may read, and folders that appear whole.

// The text of a file, at most 16 MiB.
StatusOr<std::string> ReadText(const std::filesystem::path& path);

// Keeps other processes that take the same lock off a folder, until it is destroyed or the process ends, however it
// ends. It waits for its turn.
class FolderLock {
 public:
  static StatusOr<FolderLock> Take(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

// A folder that is filled out of sight and then takes its name at once, so that nobody, after whatever crash, finds
// half of it. It is made beside `target` with mode 0700; what an interrupted attempt left there is removed. Without
// Publish or Replace it vanishes. Two at a time for one target are a bug: hold a lock.
class StagedFolder {
 public:
  static StatusOr<StagedFolder> Create(const std::filesystem::path& target);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  ~StagedFolder();

  const std::filesystem::path& path() const { return path_; }

  // Takes the target's name; refused when a folder that is not empty has it.
  Status Publish() &&;
  // The same, removing a folder that has the name. An interruption in the middle leaves neither.
  Status Replace() &&;

 private:
  StagedFolder(std::filesystem::path path, std::filesystem::path target)
      : path_(std::move(path)), target_(std::move(target)) {}

  std::filesystem::path path_;
  std::filesystem::path target_;
};

Status MakePrivateFolder(const std::filesystem::path& path);

}  // namespace tributary::inline keys
