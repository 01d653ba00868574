#include "tributary/dashboard/shared_board.h"

namespace tributary {

void SharedBoard::Describe(const RunFacts& facts) {
  {
    const std::lock_guard lock(mutex_);
    board_.Describe(facts);
    ++version_;
  }
  changed_.notify_all();
}

void SharedBoard::Write(const Event& event) {
  {
    const std::lock_guard lock(mutex_);
    board_.Write(event);
    ++version_;
  }
  // A thousand devices of a round are one piece of news.
  if (!std::holds_alternative<DeviceFinished>(event.what)) changed_.notify_all();
}

void SharedBoard::SetStates(const std::vector<std::string>& states) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < states.size() && i < Board::kMostShown; ++i) {
      if (i < board_.devices.size() && board_.states_are_told && board_.devices[i].state == states[i])
        continue;
      board_.SetState(i, states[i]);
      changed = true;
    }
    if (changed) ++version_;
  }
  if (changed) changed_.notify_all();
}

Board SharedBoard::Take() const {
  const std::lock_guard lock(mutex_);
  return board_;
}

std::uint64_t SharedBoard::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void SharedBoard::WaitForChange(std::uint64_t seen, Duration longest) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] { return closed_ || version_ != seen; });
}

void SharedBoard::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool SharedBoard::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace tributary
