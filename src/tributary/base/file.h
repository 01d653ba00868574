#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline base {

using ByteSpan = std::span<const std::byte>;

// An open file, closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { (void)Close(); }

  int get() const { return value_; }
  // The result of close(2); 0 if no file is open.
  int Close();

 private:
  int value_;
};

inline std::filesystem::path FolderOfFile(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}
// "data/" and "data" are the same folder, but the path "data/" has no file name.
inline std::filesystem::path WithoutLastSlash(const std::filesystem::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

// Reads a whole file; fails if it is larger than `limit`. Errors name the path.
StatusOr<std::vector<std::byte>> ReadFile(const std::filesystem::path& path, Bytes limit);

// Reads the text of a file that holds a secret; fails if anybody but its owner has access to it.
StatusOr<std::string> ReadSecret(const std::filesystem::path& path);
// The same for a file with one line, a password. Returns it without the line's end.
StatusOr<std::string> ReadPassword(const std::filesystem::path& path);

// Atomically replaces `path` with the concatenated `pieces`: writes a temporary file beside it, syncs and
// renames it. A failure (a full disk, say) leaves an existing file unchanged and no temporary file.
Status WriteFileAtomically(const std::filesystem::path& path, std::span<const ByteSpan> pieces);
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view text);

// The same for secrets, samples and weights: the file has mode 0600 from the moment it is created.
Status WritePrivateFileAtomically(const std::filesystem::path& path, std::span<const ByteSpan> pieces);
Status WritePrivateFileAtomically(const std::filesystem::path& path, std::string_view text);

// Creates a folder and its missing parents with mode 0700. An existing folder keeps its mode.
Status MakePrivateFolders(const std::filesystem::path& path);

// Converts an errno to a Status with a message such as "cannot write runs/a: No space left on device".
Status SystemError(std::string_view doing, const std::filesystem::path& path, int error);

// Syncs a folder's entries to disk, so that files created in it survive a power failure.
Status SyncFolder(const std::filesystem::path& folder);

// The target name if `name` is a temporary file of an interrupted write, else empty. A process that is killed
// during a write leaves its temporary file behind.
std::string_view TargetOfTemporary(std::string_view name);

// Tests whether a file can be written at `path` now: an early check before a long run, not a guarantee.
Status CheckWritable(const std::filesystem::path& path);

}  // namespace tributary::inline base
