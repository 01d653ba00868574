#pragma once

// TRIBUTARY_CHECK states what must hold unless our own code is wrong. It is never used on bytes that came from a
// network, a file, a flag or a user: those are answered with a Status.
//
// A failed check prints the expression and where it stands, and aborts. It is active in every build type.

namespace tributary::inline base {

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace tributary::inline base

#define TRIBUTARY_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::tributary::CheckFailed(#expression, __FILE__, __LINE__))
