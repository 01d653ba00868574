#include "tributary/base/wall_clock.h"

namespace tributary::inline base {

WallClock SystemWallClock() {
  return [] {
    return std::chrono::duration_cast<WallTime>(std::chrono::system_clock::now().time_since_epoch());
  };
}

}  // namespace tributary::inline base
