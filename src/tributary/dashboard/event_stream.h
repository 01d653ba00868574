#pragma once

#include <cstdint>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/dashboard/board.h"

namespace tributary {

// What one page is told over time, as server-sent events: the whole board first and after each thinning, then only what
// changes, each part at its own pace. For one thread.
class EventStream {
 public:
  static constexpr Duration kNowEvery = std::chrono::milliseconds(250),
                            kDevicesEvery = std::chrono::seconds(1);

  // The text to send now; empty if there is nothing new that is due. `version` is the board's.
  std::string Next(const Board& board, std::uint64_t version, TimePoint now);

 private:
  bool begun_ = false;
  std::uint64_t now_version_ = 0, devices_version_ = 0;
  TimePoint now_at_{0}, devices_at_{0};
  std::uint64_t rounds_ = 0, evaluations_ = 0, thinnings_ = 0;
  std::size_t described_ = 0;
  std::string notes_;
};

}  // namespace tributary
