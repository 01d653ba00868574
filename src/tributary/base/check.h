#pragma once

// TRIBUTARY_CHECK asserts an invariant of this program's own code. It is never used on bytes from a network,
// a file, a flag or a user: those errors are returned as a Status. A failed check prints the expression and
// its location and aborts, in every build type.

namespace tributary::inline base {

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace tributary::inline base

#define TRIBUTARY_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::tributary::CheckFailed(#expression, __FILE__, __LINE__))
