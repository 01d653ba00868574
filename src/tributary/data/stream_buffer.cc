#include "tributary/data/stream_buffer.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline data {

TruncatingBuffer::TruncatingBuffer(std::size_t capacity, std::int64_t from)
    : capacity_(capacity), last_(from - 1) {
  TRIBUTARY_CHECK(capacity > 0);
}

void TruncatingBuffer::SetCapacity(std::size_t capacity) {
  TRIBUTARY_CHECK(capacity > 0);
  capacity_ = capacity;
  DropOverflow();
}

void TruncatingBuffer::DropOverflow() {
  while (held_.size() > capacity_) {
    bytes_ = bytes_ - held_.front().sample.bytes();
    held_.pop_front();
    ++dropped_;
  }
}

Pushed TruncatingBuffer::Push(StreamSample& sample, TimePoint now) {
  if (sample.position <= last_) {
    ++duplicates_;
    return Pushed::kDuplicate;
  }
  last_ = sample.position;
  bytes_ += sample.bytes();
  held_.push_back({std::move(sample), now});
  DropOverflow();
  return Pushed::kTaken;
}

StatusOr<std::vector<StreamSample>> TruncatingBuffer::Take(std::size_t count) {
  std::vector<StreamSample> taken;
  taken.reserve(std::min(count, held_.size()));
  while (taken.size() < count && !held_.empty()) {
    bytes_ = bytes_ - held_.front().sample.bytes();
    taken.push_back(std::move(held_.front().sample));
    held_.pop_front();
  }
  return taken;
}

BufferMetrics TruncatingBuffer::metrics(TimePoint now) const {
  return {.samples = static_cast<std::int64_t>(held_.size()),
          .memory = bytes_,
          .oldest = held_.empty() ? Duration(0) : now - held_.front().arrived,
          .dropped = dropped_,
          .duplicates = duplicates_};
}

StatusOr<std::unique_ptr<PersistingBuffer>> PersistingBuffer::Open(const PersistOptions& options,
                                                                   std::int64_t from, TimePoint now) {
  TRIBUTARY_ASSIGN_OR_RETURN(Spool spool, Spool::Open({.folder = options.folder, .limit = options.disk}));
  TRIBUTARY_RETURN_IF_ERROR(spool.Release(from - 1));
  return std::unique_ptr<PersistingBuffer>(new PersistingBuffer(options, std::move(spool), from, now));
}

PersistingBuffer::PersistingBuffer(const PersistOptions& options, Spool spool, std::int64_t from,
                                   TimePoint now)
    : options_(options),
      spool_(std::move(spool)),
      status_("the buffer in " + options.folder.string(), {StreamPhase::kConnected, "takes samples"}),
      spilled_(static_cast<std::size_t>(spool_.unread()), now),
      newest_(spool_.empty() ? from - 1 : spool_.last()),
      newest_kept_(from - 1),
      missing_until_(spool_.first_predecessor() >= from ? spool_.first_predecessor() : -1) {}

bool PersistingBuffer::FitsInMemory(const StreamSample& sample) const {
  return memory_.empty() || memory_bytes_ + sample.bytes() <= options_.memory;
}

Pushed PersistingBuffer::Push(StreamSample& sample, TimePoint now) {
  if (missing_until_ >= 0 && sample.position > missing_until_) missing_until_ = -1;
  const bool again = missing_until_ >= 0 && sample.position > newest_kept_;
  if (!again && sample.position <= newest_) {
    ++duplicates_;
    return Pushed::kDuplicate;
  }
  if (again) {
    if (!FitsInMemory(sample))
      return Refuse("what it had in memory before the restart is more than it may hold");
    if (sample.position == missing_until_) missing_until_ = -1;
    return Keep(sample, now);
  }
  return spool_.empty() && FitsInMemory(sample) ? Keep(sample, now) : Spill(sample, now);
}

Pushed PersistingBuffer::Keep(StreamSample& sample, TimePoint now) {
  newest_kept_ = sample.position;
  newest_ = std::max(newest_, sample.position);
  memory_bytes_ += sample.bytes();
  memory_.push_back({std::move(sample), now});
  return Taken();
}

Pushed PersistingBuffer::Spill(const StreamSample& sample, TimePoint now) {
  const Status status = spool_.Append(
      {.position = sample.position, .predecessor = newest_, .bytes = EncodeRecord({.sample = sample})});
  if (!status.ok()) return Refuse(status.message());
  newest_ = sample.position;
  spilled_.push_back(now);
  return Taken();
}

Pushed PersistingBuffer::Taken() {
  full_ = false;
  status_.Set(StreamPhase::kConnected, "takes samples again");
  return Pushed::kTaken;
}

Pushed PersistingBuffer::Refuse(const std::string& why) {
  full_ = true;
  status_.Set(StreamPhase::kWaiting, "takes no more samples until there is room: " + why);
  return Pushed::kFull;
}

StatusOr<std::vector<StreamSample>> PersistingBuffer::Take(std::size_t count) {
  std::vector<StreamSample> taken;
  while (taken.size() < count && !memory_.empty()) {
    memory_bytes_ = memory_bytes_ - memory_.front().sample.bytes();
    taken.push_back(std::move(memory_.front().sample));
    memory_.pop_front();
  }
  while (taken.size() < count && missing_until_ < 0 && spool_.unread() > 0) {
    auto entry = spool_.Next();
    spilled_.pop_front();
    auto record = entry.ok() ? DecodeRecord((*entry)->bytes) : StatusOr<Record>(entry.status());
    if (record.ok()) {
      taken.push_back(std::move(record->sample));
      continue;
    }
    ++dropped_;
    // Samples taken before the damage are returned first; the next call reports it.
    if (taken.empty()) return std::move(record).status();
    break;
  }
  return taken;
}

Status PersistingBuffer::Release(std::int64_t position) {
  TRIBUTARY_RETURN_IF_ERROR(spool_.Release(position));
  while (spilled_.size() > static_cast<std::size_t>(spool_.unread())) spilled_.pop_front();
  return OkStatus();
}

std::int64_t PersistingBuffer::next_needed() const {
  return (missing_until_ >= 0 ? newest_kept_ : newest_) + 1;
}

BufferMetrics PersistingBuffer::metrics(TimePoint now) const {
  const std::optional<TimePoint> oldest = !memory_.empty()    ? std::optional(memory_.front().arrived)
                                          : !spilled_.empty() ? std::optional(spilled_.front())
                                                              : std::nullopt;
  return {.samples = static_cast<std::int64_t>(memory_.size()) + (missing_until_ < 0 ? spool_.unread() : 0),
          .memory = memory_bytes_,
          .disk = spool_.bytes(),
          .oldest = oldest ? now - *oldest : Duration(0),
          .dropped = dropped_,
          .duplicates = duplicates_,
          .full = full_};
}

}  // namespace tributary::inline data
