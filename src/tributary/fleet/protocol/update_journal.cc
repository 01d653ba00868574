#include "tributary/fleet/protocol/update_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "tributary/policy/compression/encoding.h"

namespace tributary::inline protocol {
namespace {

Status Failed(const char* doing, const std::filesystem::path& folder) {
  return IoError(std::string("cannot ") + doing + " the temporary file in " + folder.string() +
                 " that holds updates on their way: " + std::strerror(errno));
}

int OpenNameless(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  // A file system that has no such files.
  std::string name = (folder / "tributary-XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

Status UpdateJournal::Append(const UpdatePiece& piece) {
  return Write({piece.part, piece.offset, piece.values.size(), 0}, std::as_bytes(piece.values));
}

Status UpdateJournal::AppendEncoded(const UpdatePiece& piece, ByteSpan encoded) {
  return Write({piece.part, piece.offset, piece.values.size(), encoded.size()}, encoded);
}

Status UpdateJournal::Write(const Entry& entry, ByteSpan bytes) {
  if (!file_ && memory_.size() + bytes.size() > kMostInMemory) {
    const int descriptor = OpenNameless(folder_);
    if (descriptor < 0) return Failed("make", folder_);
    file_.reset(fdopen(descriptor, "w+b"));
    if (!file_) {
      close(descriptor);
      return Failed("open", folder_);
    }
    setvbuf(file_.get(), nullptr, _IONBF, 0);  // Pieces are large; copying them once more would be a waste.
  }
  if (!file_) {
    memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  } else if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return Failed("write to", folder_);
  }
  entries_.push_back(entry);
  return OkStatus();
}

Status UpdateJournal::Drain(const std::function<void(const UpdatePiece&)>& piece) {
  if (file_ && std::fseek(file_.get(), 0, SEEK_SET) != 0) return Failed("read", folder_);
  std::size_t in_memory = 0;
  std::vector<std::byte> bytes;
  std::vector<float> values;
  for (const Entry& entry : entries_) {
    bytes.resize(entry.encoded > 0 ? entry.encoded : entry.count * sizeof(float));
    if (in_memory < memory_.size()) {
      std::memcpy(bytes.data(), memory_.data() + in_memory, bytes.size());
      in_memory += bytes.size();
    } else if (std::fread(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      if (std::feof(file_.get()) != 0) errno = EIO;  // It has lost what was written to it.
      return Failed("read", folder_);
    }
    values.resize(entry.count);
    if (entry.encoded > 0) {
      ByteSpan encoded = bytes;
      TRIBUTARY_ASSIGN_OR_RETURN(const EncodedUnit unit, EncodedUnit::Parse(encoded, entry.count));
      unit.CopyTo(values);
    } else {
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    piece({entry.part, entry.offset, values});
  }
  entries_.clear();
  memory_.clear();
  file_.reset();
  return OkStatus();
}

}  // namespace tributary::inline protocol
