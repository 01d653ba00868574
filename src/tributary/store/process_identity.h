#pragma once

#include <string>
#include <string_view>

#include "tributary/base/wall_clock.h"

namespace tributary::inline store {

// Which process this is, as text: its machine, since when that is up, its number and when it began. No other has the same.
std::string ThisProcess();

// Whether the process that called itself so is no more. On the machine it runs on that is known for certain; of others it
// is believed when they have not been heard of for a minute. Text that is no process's is gone.
bool IsGone(std::string_view process, WallTime last_heard, WallTime now);

}  // namespace tributary::inline store
