#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Which data a mutex guards, in a form that Clang checks (-Wthread-safety, an error in the fuzz preset). Other compilers
// see nothing of it. See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html.
#if defined(__clang__)
#define TRIBUTARY_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define TRIBUTARY_THREAD_ATTRIBUTE(x)
#endif

// Of data: only with this mutex held. Of a pointer: what it points to.
#define TRIBUTARY_GUARDED_BY(x) TRIBUTARY_THREAD_ATTRIBUTE(guarded_by(x))
#define TRIBUTARY_POINTED_TO_GUARDED_BY(x) TRIBUTARY_THREAD_ATTRIBUTE(pt_guarded_by(x))
// Of a function: its caller holds these, or must not hold them.
#define TRIBUTARY_REQUIRES(...) TRIBUTARY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TRIBUTARY_EXCLUDES(...) TRIBUTARY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// Of a function that the analysis cannot follow; a comment says why it is right.
#define TRIBUTARY_NO_THREAD_ANALYSIS TRIBUTARY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace tributary::inline base {

class TRIBUTARY_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() TRIBUTARY_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() TRIBUTARY_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  // For what the analysis cannot see, such as a lambda that is called with the mutex held.
  void AssertHeld() const TRIBUTARY_THREAD_ATTRIBUTE(assert_capability(this)) {}

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex while it lives, but for what lies between Unlock and Lock.
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

// When a wait ends even if nothing has happened. A loop around a wait takes it once, before its first turn, so that being
// woken for nothing does not make the wait longer.
using WaitDeadline = std::chrono::steady_clock::time_point;
inline WaitDeadline DeadlineIn(std::chrono::nanoseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// Something that threads wait for with a mutex held. Callers look in a loop whether it has come true: the analysis then
// sees what they look at.
class Condition {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }
  void Wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  // False if the time is over.
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
