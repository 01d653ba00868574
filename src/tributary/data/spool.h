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

// One thing that is kept, with its place in a stream.
struct SpoolEntry {
  std::int64_t position = 0;      // Above that of the entry before.
  std::int64_t predecessor = -1;  // What its owner had before it, kept here or elsewhere; −1 for nothing.
  std::int64_t tally = 0;         // A running count of the owner's, which so outlives the process.
  std::vector<std::byte> bytes;

  friend bool operator==(const SpoolEntry&, const SpoolEntry&) = default;
};

// A queue in a folder that outlives its process: once Append has returned, kill -9 loses nothing. (A power cut may lose
// the last seconds: nothing is forced to disk, which would wear out the cards of small devices.)
//
//   1. Open: finds what an earlier process left. A last entry that was cut off in the middle of its write is dropped.
//   2. Append at the end, Next from a cursor that starts at the beginning, in any mixture.
//   3. Release what is needed no more: it is not found by a later Open, and its files are deleted.
//
// Every entry has a checksum. For one thread and one process at a time.
class Spool {
 public:
  struct Options {
    std::filesystem::path folder;  // Made if it is not there.
    Bytes limit{0};                // Refuses to hold more; 0: as much as the disk takes.
    Bytes segment{8'000'000};      // Disk space is given back in files of about this size.
  };

  static StatusOr<Spool> Open(Options options);
  Spool(Spool&&) noexcept = default;
  Spool& operator=(Spool&&) noexcept = default;

  // ResourceExhausted when the disk or the limit is full; then nothing has changed, and it may be tried again.
  Status Append(const SpoolEntry& entry);

  // The next entry that was not read yet, or nothing. One whose bytes have changed is an error once, and then skipped.
  StatusOr<std::optional<SpoolEntry>> Next();
  // Sets the cursor to the first entry at or after `position`.
  void Rewind(std::int64_t position);

  // Entries up to and including `position`. The cursor passes over them.
  Status Release(std::int64_t position);

  bool empty() const { return slots_.empty(); }  // Everything was released.
  std::int64_t unread() const { return static_cast<std::int64_t>(slots_.size() - cursor_); }
  // Of the first entry held; −1 if empty.
  std::int64_t first() const { return empty() ? -1 : slots_.front().position; }
  std::int64_t first_predecessor() const { return empty() ? -1 : slots_.front().predecessor; }
  // The last position that was ever appended or released, by this process or an earlier one; −1 for none.
  std::int64_t last() const { return last_; }
  std::int64_t released() const { return released_; }
  std::int64_t tally() const { return tally_; }  // Of the last entry.
  Bytes bytes() const { return bytes_; }         // On disk.
  // What was found damaged on opening, for a person; empty if nothing was.
  const std::string& damage() const { return damage_; }

 private:
  class Descriptor {
   public:
    Descriptor() = default;
    explicit Descriptor(int value) : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor other) noexcept {
      std::swap(value_, other.value_);
      return *this;
    }
    ~Descriptor();
    int get() const { return value_; }

   private:
    int value_ = -1;
  };
  // Where an entry lies. Some forty bytes of memory for each that is held.
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
  // Opens the segment to append this many bytes to, as writing_.
  Status MakeRoom(std::int64_t size);
  void DeleteSegmentsBefore(std::int64_t segment);

  Options options_;
  FileLock lock_;
  Descriptor mark_;
  std::deque<Slot> slots_;  // Not released, in order.
  std::size_t cursor_ = 0;  // The first of them that was not read.
  std::map<std::int64_t, std::int64_t>
      segments_;        // Number → bytes of whole entries. The last one is written to.
  Descriptor writing_;  // Of the last segment; closed if there is none.
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
