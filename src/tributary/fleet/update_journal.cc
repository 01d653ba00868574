#include "tributary/fleet/update_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "tributary/base/file.h"
#include "tributary/base/units.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline fleet {
namespace {

Status JournalFailed(const char* doing, const std::filesystem::path& folder) {
  const std::string reason = std::strerror(errno);
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(folder, unknown);
  return IoError(
      std::string("cannot ") + doing + " the temporary file in " + folder.string() +
      " that holds updates on their way: " + reason +
      (unknown ? "" : "; " + FormatBytes({static_cast<std::int64_t>(space.available)}) + " are free there"));
}

int OpenNameless(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  // This file system does not support O_TMPFILE.
  std::string name = (folder / "tributary-XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

// Transfers all bytes, or fails with errno set.
template <typename Byte, typename Call>
bool Transfer(Call call, int file, std::span<Byte> bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t moved = call(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0) errno = EIO;  // The file has lost what was written to it.
    if (moved <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
    at += static_cast<std::uint64_t>(moved);
  }
  return true;
}

}  // namespace

UpdateJournal::~UpdateJournal() {
  if (file_ >= 0) close(file_);
}

UpdateJournal::Kept* UpdateJournal::Find(WorkId work) {
  const MutexLock lock(mutex_);
  const auto found = kept_.find(work);
  return found == kept_.end() ? nullptr : &found->second;
}

Status UpdateJournal::Append(WorkId work, const UpdatePiece& piece) {
  const ByteSpan bytes = piece.encoded.empty() ? std::as_bytes(piece.values) : piece.encoded;
  Entry entry{piece.part,           piece.offset, piece.values.size(), piece.weight,
              piece.encoded.size(), piece.form,   /*in_memory=*/true,  0};
  Kept* kept = nullptr;
  {
    const MutexLock lock(mutex_);
    kept = &kept_[work];
    entry.at = kept->memory.size();
    if (kept->memory.size() + bytes.size() > kMostInMemory) {
      if (file_ < 0 && (file_ = OpenNameless(folder_)) < 0) return JournalFailed("make", folder_);
      entry.in_memory = false;
      entry.at = end_;
      end_ += bytes.size();
    }
  }
  if (entry.in_memory) {
    kept->memory.insert(kept->memory.end(), bytes.begin(), bytes.end());
  } else if (!Transfer(pwrite, file_, bytes, entry.at)) {
    return JournalFailed("write to", folder_);
  }
  kept->entries.push_back(entry);
  return OkStatus();
}

Status UpdateJournal::ReadBytes(const Kept& kept, const Entry& entry, std::size_t begin,
                                std::span<std::byte> bytes) const {
  if (entry.in_memory) {
    std::memcpy(bytes.data(), kept.memory.data() + entry.at + begin, bytes.size());
    return OkStatus();
  }
  return Transfer(pread, file_, bytes, entry.at + begin) ? OkStatus() : JournalFailed("read", folder_);
}

Status UpdateJournal::ReadEntry(const Kept& kept, const Entry& entry, std::size_t begin,
                                std::span<float> values) const {
  if (entry.encoded == 0)
    return ReadBytes(kept, entry, begin * sizeof(float), std::as_writable_bytes(values));
  std::vector<std::byte> bytes(entry.encoded);
  TRIBUTARY_RETURN_IF_ERROR(ReadBytes(kept, entry, 0, bytes));
  ByteSpan encoded = bytes;
  TRIBUTARY_ASSIGN_OR_RETURN(const EncodedUnit unit, EncodedUnit::Parse(encoded, entry.count, entry.form));
  if (values.size() == entry.count) {
    unit.CopyTo(values);
    return OkStatus();
  }
  std::vector<float> all(entry.count);
  unit.CopyTo(all);
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), values.size(), values.begin());
  return OkStatus();
}

Status UpdateJournal::ForEach(WorkId work, const std::function<void(const UpdatePiece&)>& visit) {
  const Kept* const kept = Find(work);
  if (kept == nullptr) return OkStatus();
  std::vector<float> values;
  for (const Entry& entry : kept->entries) {
    values.resize(entry.count);
    TRIBUTARY_RETURN_IF_ERROR(ReadEntry(*kept, entry, 0, values));
    visit({entry.part, entry.offset, values, entry.weight});
  }
  return OkStatus();
}

Status UpdateJournal::Read(WorkId work, UpdatePart part, std::size_t offset, std::span<float> values) {
  const Kept* const kept = Find(work);
  if (kept == nullptr) return OkStatus();
  for (const Entry& entry : kept->entries) {
    const std::size_t begin = std::max(offset, entry.offset);
    const std::size_t end = std::min(offset + values.size(), entry.offset + entry.count);
    if (entry.part != part || begin >= end) continue;
    TRIBUTARY_RETURN_IF_ERROR(
        ReadEntry(*kept, entry, begin - entry.offset, values.subspan(begin - offset, end - begin)));
  }
  return OkStatus();
}

void UpdateJournal::Remove(WorkId work) {
  const MutexLock lock(mutex_);
  const auto node = kept_.extract(work);
  if (node.empty() || file_ < 0) return;
  // If the file system cannot punch holes, the space is freed when no update is left.
  for (const Entry& entry : node.mapped().entries) {
    if (entry.in_memory) continue;
    (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(entry.at),
                    static_cast<off_t>(entry.bytes()));
  }
  if (kept_.empty() && ftruncate(file_, 0) == 0) end_ = 0;
}

}  // namespace tributary::inline fleet
