#include "tributary/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tributary::inline base {

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "tributary: internal error: '%s' does not hold (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace tributary::inline base
