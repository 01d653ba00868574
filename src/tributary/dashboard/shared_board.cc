#include "tributary/dashboard/shared_board.h"

namespace tributary::inline dashboard {
namespace {

// JSON on one line cannot end an event.
std::string Message(const char* name, const std::string& json) {
  return std::string("event: ") + name + "\ndata: " + json + "\n\n";
}

}  // namespace

void SharedBoard::Describe(const RunMetadata& metadata) {
  const MutexLock lock(mutex_);
  board_.Describe(metadata);
  ++version_;
  changed_.NotifyAll();
}

void SharedBoard::Write(const Event& event) {
  const MutexLock lock(mutex_);
  board_.Write(event);
  ++version_;
  // The devices of a round are announced together, at the end of the round.
  if (!std::holds_alternative<DeviceFinished>(event.what)) changed_.NotifyAll();
}

void SharedBoard::SetStates(const std::vector<std::string>& states) {
  const MutexLock lock(mutex_);
  bool changed = false;
  for (std::size_t i = 0; i < states.size() && i < Board::kMostShown; ++i) {
    if (i < board_.devices.size() && board_.states_are_told && board_.devices[i].state == states[i]) continue;
    board_.SetState(i, states[i]);
    changed = true;
  }
  if (!changed) return;
  ++version_;
  changed_.NotifyAll();
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
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

bool SharedBoard::closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

std::string EventStream::Next(const Board& board, std::uint64_t version, TimePoint now) {
  const std::uint64_t downsamplings =
      board.rounds.downsamplings() + board.evaluations.downsamplings() + board.replaced;
  const bool whole =
      !begun_ || downsamplings != downsamplings_ || board.metadata.devices.size() != described_;
  const bool over = board.totals.finished.has_value();
  std::string text;
  if (whole) {
    text = Message("board", BoardJson(board));
    notes_ = NotesJson(board);
    now_version_ = devices_version_ = version;
    now_at_ = devices_at_ = now;
  } else {
    if (version != now_version_ && (over || now - now_at_ >= kNowEvery)) {
      if (board.rounds.seen() != rounds_ || board.evaluations.seen() != evaluations_) {
        text += Message("points", PointsJson(board, rounds_, evaluations_));
      }
      text += Message("now", NowJson(board));
      if (std::string notes = NotesJson(board); notes != notes_) {
        text += Message("notes", notes);
        notes_ = std::move(notes);
      }
      now_version_ = version;
      now_at_ = now;
    }
    if (version != devices_version_ && (over || now - devices_at_ >= kDevicesEvery)) {
      text += Message("devices", DevicesJson(board));
      devices_version_ = version;
      devices_at_ = now;
    }
    if (text.empty()) return text;
  }
  if (whole || now_version_ == version) {
    rounds_ = board.rounds.seen();
    evaluations_ = board.evaluations.seen();
  }
  begun_ = true;
  downsamplings_ = downsamplings;
  described_ = board.metadata.devices.size();
  return text;
}

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
  const MutexLock lock(mutex_);
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

}  // namespace tributary::inline dashboard
