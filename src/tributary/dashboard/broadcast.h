#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/dashboard/event_stream.h"
#include "tributary/dashboard/shared_board.h"

namespace tributary {

// What all pages that follow a board are told, looked up and put into words once however many they are. For any thread.
class Broadcast {
 public:
  static constexpr std::size_t kKept = 16;  // texts for those who are behind

  // Both must outlive it.
  Broadcast(const SharedBoard& board, const Clock& clock) : board_(board), clock_(clock) {}

  // What follows the text numbered `heard`, which becomes the number of the last: 0 for one who has heard nothing and is
  // told the whole board, as is one who is too far behind. Empty if there is nothing new.
  std::string Next(std::uint64_t& heard);

 private:
  void LookAgain();

  const SharedBoard& board_;
  const Clock& clock_;
  std::mutex mutex_;
  EventStream stream_;
  Board seen_;         // as it was when the last text was made
  std::string whole_;  // of it, once somebody wanted it
  std::deque<std::string> texts_;
  std::uint64_t number_ = 0;  // of the last text
  TimePoint looked_{0};
};

}  // namespace tributary
