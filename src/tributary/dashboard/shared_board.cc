#include "tributary/dashboard/shared_board.h"

namespace tributary::inline dashboard {

void SharedBoard::Describe(const RunMetadata& metadata) {
  {
    const MutexLock lock(mutex_);
    board_.Describe(metadata);
    ++version_;
  }
  changed_.NotifyAll();
}

void SharedBoard::Write(const Event& event) {
  {
    const MutexLock lock(mutex_);
    board_.Write(event);
    ++version_;
  }
  // A thousand devices of a round are one piece of news.
  if (!std::holds_alternative<DeviceFinished>(event.what)) changed_.NotifyAll();
}

void SharedBoard::SetStates(const std::vector<std::string>& states) {
  bool changed = false;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < states.size() && i < Board::kMostShown; ++i) {
      if (i < board_.devices.size() && board_.states_are_told && board_.devices[i].state == states[i])
        continue;
      board_.SetState(i, states[i]);
      changed = true;
    }
    if (changed) ++version_;
  }
  if (changed) changed_.NotifyAll();
}

Board SharedBoard::Take() const {
  const MutexLock lock(mutex_);
  return board_;
}

std::uint64_t SharedBoard::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

void SharedBoard::WaitForChange(std::uint64_t seen, Duration longest) const {
  MutexLock lock(mutex_);
  const WaitDeadline deadline = DeadlineIn(longest);
  while (!closed_ && version_ == seen && changed_.WaitUntil(lock, deadline)) {
  }
}

void SharedBoard::Close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.NotifyAll();
}

bool SharedBoard::closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

}  // namespace tributary::inline dashboard
