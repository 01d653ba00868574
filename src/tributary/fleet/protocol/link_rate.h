#pragma once

#include "tributary/base/units.h"

namespace tributary::inline protocol {

// A slower link than there is, for testing; both are above 0.
struct LinkRate {
  BitsPerSecond up, down;
};

}  // namespace tributary::inline protocol
