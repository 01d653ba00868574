#include "tributary/dashboard/event_stream.h"

namespace tributary {
namespace {

// JSON on one line has no line ends that would end an event.
std::string Message(const char* name, const std::string& json) {
  return std::string("event: ") + name + "\ndata: " + json + "\n\n";
}

}  // namespace

std::string EventStream::Next(const Board& board, std::uint64_t version, TimePoint now) {
  const std::uint64_t thinnings = board.rounds.thinnings() + board.evaluations.thinnings() + board.replaced;
  const bool whole = !begun_ || thinnings != thinnings_ || board.facts.devices.size() != described_;
  const bool over = board.finished.has_value();
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
  thinnings_ = thinnings;
  described_ = board.facts.devices.size();
  return text;
}

}  // namespace tributary
