#include "tributary/data/truncating_buffer.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary {

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

}  // namespace tributary
