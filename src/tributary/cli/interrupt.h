#pragma once

namespace tributary::inline cli {

// While one lives, the first Ctrl-C (or SIGTERM) only sets a flag, so that the work can stop at a clean point and save;
// a second one ends the program at once, as without it. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
};

}  // namespace tributary::inline cli
