#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/fleet/fleet.h"

namespace tributary::inline protocol {

// Remembers the pieces of an update that is still coming in, so that they can be taken back if it never completes. A
// little is held in memory; what is longer goes to a file without a name, which the system forgets with the process
// and, where it lives shortly, never writes to disk. So a coordinator's memory does not grow with its fleet.
class UpdateJournal {
 public:
  // `folder` is where the file would be.
  explicit UpdateJournal(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Status Append(const UpdatePiece& piece);
  // A piece that came as an encoded block, which has been checked: kept as it came, and handed back decoded.
  Status AppendEncoded(const UpdatePiece& piece, ByteSpan encoded);
  // Hands every piece back, and forgets them. The values are valid during the call.
  Status Drain(const std::function<void(const UpdatePiece&)>& piece);

 private:
  struct Entry {
    UpdatePart part;
    std::size_t offset;
    std::size_t count;
    std::size_t encoded;  // bytes of it; 0 for plain values
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static constexpr std::size_t kMostInMemory = 65536;  // bytes

  Status Write(const Entry& entry, ByteSpan bytes);

  std::filesystem::path folder_;
  std::vector<Entry> entries_;  // those in memory come first
  std::vector<std::byte> memory_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace tributary::inline protocol
