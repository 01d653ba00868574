#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/file_lock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline data {

// An entry of the queue, with its position in a stream.
struct SpoolEntry {
  std::int64_t position = 0;      // above that of the previous entry
  std::int64_t predecessor = -1;  // the owner's previous position, here or elsewhere; −1 for none
  std::int64_t tally = 0;         // a counter of the owner that survives the process
  std::vector<std::byte> bytes;

  friend bool operator==(const SpoolEntry&, const SpoolEntry&) = default;
};

// A persistent queue in a folder: after Append returns, kill -9 loses nothing. (A power failure may lose the
// last seconds: nothing is synced to disk, to spare the flash memory of small devices.)
//
//   1. Open recovers the entries of an earlier process. An incomplete last entry is dropped.
//   2. Append to the end and read Next from a cursor that starts at the beginning, in any order.
//   3. Release entries that are no longer needed: Open does not find them again, and their files are deleted.
//
// Entries have checksums. Not thread-safe; one process at a time.
class Spool {
 public:
  struct Options {
    std::filesystem::path folder;  // created if necessary
    Bytes limit{0};                // maximum size; 0: limited by the disk only
    Bytes segment{8'000'000};      // size of the files in which disk space is freed
  };

  static StatusOr<Spool> Open(Options options);
  Spool(Spool&&) noexcept = default;
  Spool& operator=(Spool&&) noexcept = default;

  // ResourceExhausted if the disk or the limit is full. Then nothing changes, and a retry is possible.
  Status Append(const SpoolEntry& entry);

  // The next unread entry, or nullopt. A damaged entry is an error once and then skipped.
  StatusOr<std::optional<SpoolEntry>> Next();
  // Sets the cursor to the first entry at or after `position`.
  void Rewind(std::int64_t position);

  // Releases entries up to and including `position`. The cursor moves past them.
  Status Release(std::int64_t position);

  bool empty() const { return slots_.empty(); }  // Everything is released.
  std::int64_t unread() const { return static_cast<std::int64_t>(slots_.size() - cursor_); }
  // Position of the first entry; −1 if empty.
  std::int64_t first() const { return empty() ? -1 : slots_.front().position; }
  std::int64_t first_predecessor() const { return empty() ? -1 : slots_.front().predecessor; }
  // The last position ever appended or released, by any process; −1 for none.
  std::int64_t last() const { return last_; }
  std::int64_t released() const { return released_; }
  std::int64_t tally() const { return tally_; }  // of the last entry
  Bytes bytes() const { return bytes_; }         // on disk
  // Damage found by Open, for people; empty if none.
  const std::string& damage() const { return damage_; }

 private:
  // Location of an entry. About forty bytes of memory per entry.
  struct Slot {
    std::int64_t position;
    std::int64_t predecessor;
    std::int64_t segment;
    std::int64_t offset;
  };

  Spool(Options options, FileLock lock) : options_(std::move(options)), lock_(std::move(lock)) {}

  std::filesystem::path PathOf(std::int64_t segment) const;
  Status ReadMark();
  Status WriteMark();
  Status Recover();
  Status RecoverSegment(std::int64_t segment);
  // Sets writing_ to the segment to which this number of bytes is appended.
  Status MakeRoom(std::int64_t size);
  void DeleteSegmentsBefore(std::int64_t segment);

  Options options_;
  FileLock lock_;
  Descriptor mark_;
  std::deque<Slot> slots_;  // unreleased entries, in order
  std::size_t cursor_ = 0;  // the first unread slot
  // Number → bytes of complete entries. The last segment is written to.
  std::map<std::int64_t, std::int64_t> segments_;
  Descriptor writing_;  // the last segment; closed if there is none
  Descriptor reading_;
  std::int64_t reading_segment_ = 0;
  std::int64_t next_segment_ = 1;
  std::int64_t released_ = -1;
  std::int64_t last_ = -1;
  std::int64_t tally_ = 0;
  Bytes bytes_{0};
  std::string damage_;
};

}  // namespace tributary::inline data
