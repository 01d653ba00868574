#pragma once

namespace tributary::inline cli {

// During its lifetime, the first Ctrl-C or SIGTERM only sets a flag, so that work can stop cleanly and save;
// a second one ends the program. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const;
};

}  // namespace tributary::inline cli
