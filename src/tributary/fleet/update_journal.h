#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline fleet {

// Keeps updates outside of memory: a little of each is held, what is longer goes to one file without a name for all, which
// the system forgets with the process and, where updates live shortly, never writes to disk. So a coordinator's memory does
// not grow with its fleet. Space on the disk is given back update by update.
class UpdateJournal final : public UpdateStore {
 public:
  // `folder` is where the file would be.
  explicit UpdateJournal(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~UpdateJournal() override;
  UpdateJournal(const UpdateJournal&) = delete;
  UpdateJournal& operator=(const UpdateJournal&) = delete;

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
    std::size_t encoded;  // bytes of it; 0 for plain values
    const UnitForm* form;
    bool in_memory;
    std::uint64_t at;  // in the update's memory or in the file

    std::size_t bytes() const { return encoded > 0 ? encoded : count * sizeof(float); }
  };
  struct Kept {
    std::vector<Entry> entries;
    std::vector<std::byte> memory;
  };
  static constexpr std::size_t kMostInMemory = 65536;  // bytes of an update

  // Null if nothing of it is kept. Valid until Remove.
  Kept* Find(WorkId work) TRIBUTARY_EXCLUDES(mutex_);
  // Elements of an entry from its element `begin` on.
  Status ReadEntry(const Kept& kept, const Entry& entry, std::size_t begin, std::span<float> values) const;
  Status ReadBytes(const Kept& kept, const Entry& entry, std::size_t begin, std::span<std::byte> bytes) const;

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::map<WorkId, Kept> kept_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t end_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // of the file
  int file_ = -1;                                       // once it is open, it stays so
};

}  // namespace tributary::inline fleet
