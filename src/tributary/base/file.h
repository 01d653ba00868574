#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline base {

using ByteSpan = std::span<const std::byte>;

// The whole file, refused if it is larger than `limit`. Errors name the path.
StatusOr<std::vector<std::byte>> ReadFile(const std::filesystem::path& path, Bytes limit);

// The text of a file that holds a secret; refused when anybody but its owner could read or write it.
StatusOr<std::string> ReadSecret(const std::filesystem::path& path);
// The one line of such a file, without its end: a password.
StatusOr<std::string> ReadPassword(const std::filesystem::path& path);

// Replaces `path` by the concatenation of `pieces`, or leaves it exactly as it was: the bytes go to a temporary file
// beside it, are forced to disk, and take the name by an atomic rename. On any failure (a full disk, say) the
// temporary file is removed and an older file of that name is untouched.
Status WriteFileAtomically(const std::filesystem::path& path, std::span<const ByteSpan> pieces);
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view text);

// The same for secrets, samples and weights: only the owner can read the file (mode 0600), also while it is being written.
Status WritePrivateFileAtomically(const std::filesystem::path& path, std::span<const ByteSpan> pieces);
Status WritePrivateFileAtomically(const std::filesystem::path& path, std::string_view text);

// Makes the folder and those above it that are missing, for the owner alone (mode 0700). A folder that exists keeps its
// mode.
Status MakePrivateFolders(const std::filesystem::path& path);

// What the operating system's `error` (an errno) means for the caller: "cannot write runs/a: No space left on
// device".
Status SystemError(std::string_view doing, const std::filesystem::path& path, int error);

// Forces the folder's names to disk, so that what was made in it is still there after a power cut.
Status SyncFolder(const std::filesystem::path& folder);

// The name of the file that a temporary file of a write was to become; empty if `name` is not one's. A process that is
// killed in the middle of a write leaves its temporary file behind.
std::string_view TargetOfTemporary(std::string_view name);

// Whether a file could be written at `path` now. For refusing a long run before it starts, not a promise.
Status CheckWritable(const std::filesystem::path& path);

}  // namespace tributary::inline base
