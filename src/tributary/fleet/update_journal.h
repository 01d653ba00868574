#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline fleet {

// Stores updates outside of memory, so that a coordinator's memory does not grow with its fleet. A small part
// of each update stays in memory. The rest goes to one unnamed temporary file, which vanishes with the
// process and, if updates are short-lived, is never written to disk. Removing an update frees its disk space.
class UpdateJournal final : public UpdateStore {
 public:
  // `folder` holds the temporary file.
  explicit UpdateJournal(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~UpdateJournal() override;

  Status Append(WorkId work, const UpdatePiece& piece) override;
  Status ForEach(WorkId work, const std::function<void(const UpdatePiece&)>& visit) override;
  Status Read(WorkId work, UpdatePart part, std::size_t offset, std::span<float> values) override;
  void Remove(WorkId work) override;

 private:
  struct Entry {
    UpdatePart part;
    std::size_t offset;
    std::size_t count;
    double weight;
    std::size_t encoded;  // bytes; 0 for plain values
    const UnitForm* form;
    bool in_memory;
    std::uint64_t at;  // offset in the update's memory or in the file

    std::size_t bytes() const { return encoded > 0 ? encoded : count * sizeof(float); }
  };
  struct Kept {
    std::vector<Entry> entries;
    std::vector<std::byte> memory;
  };
  static constexpr std::size_t kMostInMemory = 65536;  // bytes of an update

  // Null if no part of it is stored. Valid until Remove.
  Kept* Find(WorkId work) TRIBUTARY_EXCLUDES(mutex_);
  // Elements of an entry, starting with its element `begin`.
  Status ReadEntry(const Kept& kept, const Entry& entry, std::size_t begin, std::span<float> values) const;
  Status ReadBytes(const Kept& kept, const Entry& entry, std::size_t begin, std::span<std::byte> bytes) const;

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::map<WorkId, Kept> kept_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t end_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // of the file
  int file_ = -1;                                       // once open, it stays open
};

}  // namespace tributary::inline fleet
