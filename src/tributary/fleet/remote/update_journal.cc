#include "tributary/fleet/remote/update_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tributary::remote {
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
  if (!file_ && memory_.size() + piece.values.size() > kMostInMemory) {
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
    memory_.insert(memory_.end(), piece.values.begin(), piece.values.end());
  } else if (std::fwrite(piece.values.data(), sizeof(float), piece.values.size(), file_.get()) != piece.values.size()) {
    return Failed("write to", folder_);
  }
  entries_.push_back({piece.part, piece.offset, piece.values.size()});
  return OkStatus();
}

Status UpdateJournal::Drain(const std::function<void(const UpdatePiece&)>& piece) {
  if (file_ && std::fseek(file_.get(), 0, SEEK_SET) != 0) return Failed("read", folder_);
  std::size_t in_memory = 0;
  std::vector<float> read;
  for (const Entry& entry : entries_) {
    std::span<const float> values;
    if (in_memory < memory_.size()) {
      values = std::span(memory_).subspan(in_memory, entry.count);
      in_memory += entry.count;
    } else {
      read.resize(entry.count);
      if (std::fread(read.data(), sizeof(float), entry.count, file_.get()) != entry.count) return Failed("read", folder_);
      values = read;
    }
    piece({entry.part, entry.offset, values});
  }
  entries_.clear();
  memory_.clear();
  file_.reset();
  return OkStatus();
}

}  // namespace tributary::remote
