#include "tributary/dashboard/broadcast.h"

namespace tributary {

void Broadcast::LookAgain() {
  const TimePoint now = clock_.Now();
  if (number_ > 0 && now - looked_ < EventStream::kNowEvery / 2 && !board_.closed()) return;
  looked_ = now;
  const std::uint64_t version = board_.version();
  Board board = board_.Take();
  std::string text = stream_.Next(board, version, now);
  if (text.empty()) return;
  seen_ = std::move(board);
  whole_.clear();
  texts_.push_back(std::move(text));
  if (texts_.size() > kKept) texts_.pop_front();
  ++number_;
}

std::string Broadcast::Next(std::uint64_t& heard) {
  const std::lock_guard lock(mutex_);
  LookAgain();
  const std::uint64_t behind = number_ - heard;
  const bool whole = heard == 0 || behind > texts_.size();
  heard = number_;
  if (whole) {
    if (whole_.empty()) whole_ = EventStream().Next(seen_, 0, looked_);
    return whole_;
  }
  std::string text;
  for (std::size_t i = texts_.size() - behind; i < texts_.size(); ++i) text += texts_[i];
  return text;
}

}  // namespace tributary
