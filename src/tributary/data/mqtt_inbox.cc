#include "tributary/data/mqtt_inbox.h"

#include <algorithm>

namespace tributary::inline data {
namespace {

constexpr Bytes kMostInMemory{16'000'000};

}  // namespace

MqttInbox::MqttInbox(std::optional<SampleFormat> format, std::optional<Spool> spool)
    : format_(std::move(format)), spool_(std::move(spool)), last_(spool_ ? spool_->last() : -1) {
  // Gaps counted by an earlier process stay counted: lost samples do not come back.
  if (spool_) counts_.missing = spool_->tally();
}

void MqttInbox::Receive(ByteSpan message) {
  auto record = DecodeRecord(message);
  if (!record.ok()) {
    ++counts_.undecodable;
    return;
  }
  const std::int64_t number = record->sample.position;
  if (number <= last_) {
    ++counts_.duplicates;
    return;
  }
  // A restarted publisher continues with a number of its choice: there is no gap before it. A reader that
  // starts in the middle has lost nothing.
  if (last_ >= 0) counts_.missing += number - std::max(last_ + 1, record->run);
  const std::int64_t predecessor = last_;
  last_ = number;
  const bool fits = !format_ || CheckFits(*format_, record->sample).ok();
  if (!fits) ++counts_.undecodable;
  if (!spool_) {
    if (!fits) return;
    memory_bytes_ += record->sample.bytes();
    memory_.push_back(std::move(record->sample));
    return;
  }
  // Unusable messages are stored without bytes, so that a later process does not count them as missing.
  SpoolEntry entry{.position = number, .predecessor = predecessor, .tally = counts_.missing};
  if (fits) entry.bytes.assign(message.begin(), message.end());
  unspooled_.push_back(std::move(entry));
  full();
}

bool MqttInbox::full() {
  if (!spool_) {
    why_full_ = "samples are not being read";
    return memory_bytes_ > kMostInMemory;
  }
  while (!unspooled_.empty()) {
    const Status status = spool_->Append(unspooled_.front());
    if (!status.ok()) {
      why_full_ = status.message();
      return true;
    }
    unspooled_.pop_front();
  }
  return false;
}

bool MqttInbox::HasUnread() const { return spool_ ? spool_->unread() > 0 : !memory_.empty(); }

std::optional<StreamSample> MqttInbox::Next() {
  if (!spool_) {
    StreamSample sample = std::move(memory_.front());
    memory_.pop_front();
    memory_bytes_ = memory_bytes_ - sample.bytes();
    return sample;
  }
  auto entry = spool_->Next();
  if (entry.ok() && (*entry)->bytes.empty()) return std::nullopt;
  auto record = entry.ok() ? DecodeRecord((*entry)->bytes) : StatusOr<Record>(entry.status());
  // It fitted when it was written, but perhaps for another network.
  if (record.ok() && (!format_ || CheckFits(*format_, record->sample).ok())) return std::move(record->sample);
  ++counts_.undecodable;
  return std::nullopt;
}

void MqttInbox::Poll(const PollLimits& limits, std::vector<StreamSample>& out) {
  Bytes bytes{0};
  for (std::size_t taken = 0; HasUnread() && taken < limits.samples && bytes < limits.bytes;) {
    auto sample = Next();
    if (!sample || sample->position < wanted_) continue;
    bytes += sample->bytes();
    out.push_back(std::move(*sample));
    ++counts_.delivered;
    ++taken;
  }
}

void MqttInbox::Seek(std::int64_t position) {
  wanted_ = position;
  // Samples that an earlier process applied are not accepted again, even if the spool is lost.
  if (position - 1 > last_ && unspooled_.empty()) last_ = position - 1;
  if (spool_) spool_->Rewind(position);
}

void MqttInbox::Commit(std::int64_t position) {
  // A failed write of the mark is repeated by the next commit: the mark may lag behind.
  if (spool_) (void)spool_->Release(position);
}

}  // namespace tributary::inline data
