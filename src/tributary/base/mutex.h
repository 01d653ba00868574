#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Declares which mutex guards which data. Clang checks it (-Wthread-safety, an error in the fuzz preset);
// other compilers ignore it. See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html.
#if defined(__clang__)
#define TRIBUTARY_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define TRIBUTARY_THREAD_ATTRIBUTE(x)
#endif

// On data: access requires this mutex. On a pointer: access to its target requires it.
#define TRIBUTARY_GUARDED_BY(x) TRIBUTARY_THREAD_ATTRIBUTE(guarded_by(x))
#define TRIBUTARY_POINTED_TO_GUARDED_BY(x) TRIBUTARY_THREAD_ATTRIBUTE(pt_guarded_by(x))
// On a function: the caller must hold, or must not hold, these mutexes.
#define TRIBUTARY_REQUIRES(...) TRIBUTARY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TRIBUTARY_EXCLUDES(...) TRIBUTARY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// On a function that the analysis cannot follow; a comment gives the reason why it is correct.
#define TRIBUTARY_NO_THREAD_ANALYSIS TRIBUTARY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace tributary::inline base {

class TRIBUTARY_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() TRIBUTARY_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() TRIBUTARY_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  // For code that the analysis cannot follow, such as a lambda called with the mutex held.
  void AssertHeld() const TRIBUTARY_THREAD_ATTRIBUTE(assert_capability(this)) {}

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex for its lifetime, except between Unlock and Lock.
class TRIBUTARY_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TRIBUTARY_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~MutexLock() TRIBUTARY_THREAD_ATTRIBUTE(release_capability()) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() TRIBUTARY_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
  void Lock() TRIBUTARY_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }

 private:
  friend class Condition;
  std::unique_lock<std::mutex> lock_;
};

// The latest end of a wait. Compute it once before a wait loop: spurious wake-ups must not extend the wait.
using WaitDeadline = std::chrono::steady_clock::time_point;
inline WaitDeadline DeadlineIn(std::chrono::nanoseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// A condition variable. Callers test their predicate in a loop, where the thread-safety analysis sees it.
class Condition {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }
  void Wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  // False on timeout.
  bool WaitFor(MutexLock& lock, std::chrono::nanoseconds time) {
    return condition_.wait_for(lock.lock_, time) == std::cv_status::no_timeout;
  }
  bool WaitUntil(MutexLock& lock, WaitDeadline deadline) {
    return condition_.wait_until(lock.lock_, deadline) == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace tributary::inline base
