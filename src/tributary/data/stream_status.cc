#include "tributary/data/stream_status.h"

#include <utility>

namespace tributary {

StreamStatus::StreamStatus(std::string what, StreamState first)
    : what_(std::move(what)), state_(std::move(first)), told_(state_.phase) {}

void StreamStatus::Set(StreamPhase phase, std::string reason) {
  const std::lock_guard lock(mutex_);
  if (state_.phase == phase || state_.phase == StreamPhase::kStopped) return;
  state_ = {phase, std::move(reason)};
}

StreamState StreamStatus::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::optional<std::string> StreamStatus::TakeNews() {
  const std::lock_guard lock(mutex_);
  if (told_ == state_.phase) return std::nullopt;
  told_ = state_.phase;
  return what_ + ": " + state_.reason;
}

}  // namespace tributary
