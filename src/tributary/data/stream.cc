#include "tributary/data/stream.h"

#include <utility>

namespace tributary::inline data {

StreamStatus::StreamStatus(std::string what, StreamState first)
    : what_(std::move(what)), state_(std::move(first)), fresh_(state_.phase == StreamPhase::kWaiting) {}

void StreamStatus::Set(StreamPhase phase, std::string reason) {
  const MutexLock lock(mutex_);
  if ((state_.phase == phase && !fresh_) || state_.phase == StreamPhase::kStopped) return;
  state_ = {phase, std::move(reason)};
  fresh_ = false;
  news_ = true;
}

StreamState StreamStatus::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

std::optional<std::string> StreamStatus::TakeNews() {
  const MutexLock lock(mutex_);
  if (!news_) return std::nullopt;
  news_ = false;
  return what_ + ": " + state_.reason;
}

}  // namespace tributary::inline data
