#include "tributary/download/unpack.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "tributary/base/file.h"

namespace tributary::inline download {
namespace {

constexpr std::size_t kMostEntries = 100'000;
constexpr std::int64_t kLargestEntry = 2'000'000'000;

Status ArchiveError(const std::filesystem::path& path, archive* reader) {
  const char* text = archive_error_string(reader);
  return Corrupt(path.string() + " cannot be unpacked: " + (text == nullptr ? "it is no archive" : text));
}

StatusOr<std::string> ReadEntry(const std::filesystem::path& path, archive* reader,
                                const WantedEntry& wanted) {
  std::string bytes;
  bytes.resize(static_cast<std::size_t>(wanted.size.value));
  std::size_t done = 0;
  char beyond = 0;
  while (true) {
    const bool full = done == bytes.size();
    const la_ssize_t read =
        archive_read_data(reader, full ? &beyond : bytes.data() + done, full ? 1 : bytes.size() - done);
    if (read < 0) return ArchiveError(path, reader);
    if (read == 0 && full) return bytes;
    if (read == 0 || full) {
      return Corrupt(wanted.name + " in " + path.string() + " has " + (full ? "more than " : "less than ") +
                     FormatBytes(wanted.size));
    }
    done += static_cast<std::size_t>(read);
  }
}

}  // namespace

Status Unpack(const std::filesystem::path& path, const std::vector<WantedEntry>& wanted) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), archive_read_free);
  if (!reader) return ResourceExhausted("libarchive could not be started");
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), 65536) != ARCHIVE_OK)
    return ArchiveError(path, reader.get());
  std::vector<bool> found(wanted.size(), false);
  for (std::size_t entries = 0;; ++entries) {
    if (entries == kMostEntries)
      return ResourceExhausted(path.string() + " holds more files than are looked at");
    archive_entry* entry = nullptr;
    const int next = archive_read_next_header(reader.get(), &entry);
    if (next == ARCHIVE_EOF) break;
    if (next != ARCHIVE_OK && next != ARCHIVE_WARN) return ArchiveError(path, reader.get());
    const char* name = archive_entry_pathname(entry);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (name == nullptr || wanted[i].name != name || found[i]) continue;
      if (archive_entry_filetype(entry) != AE_IFREG || wanted[i].size.value > kLargestEntry) {
        return Corrupt(wanted[i].name + " in " + path.string() + " is no plain file");
      }
      TRIBUTARY_ASSIGN_OR_RETURN(const std::string bytes, ReadEntry(path, reader.get(), wanted[i]));
      std::error_code error;
      std::filesystem::create_directories(wanted[i].file.parent_path(), error);
      TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(wanted[i].file, bytes));
      found[i] = true;
      break;  // Its data have been read.
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!found[i]) return Corrupt(path.string() + " holds no " + wanted[i].name);
  }
  return OkStatus();
}

}  // namespace tributary::inline download
