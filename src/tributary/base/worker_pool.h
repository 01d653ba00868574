#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"

namespace tributary::inline base {

// A fixed number of threads that run numbered jobs, such as training the devices of a round.
//
// An idle thread takes the lowest job not yet taken, so jobs finish in any order. A job must not depend on
// another job of the same Run, nor its result on the worker that runs it. `worker`, below threads(), selects
// the scratch memory a job may use: no two jobs with the same worker run at once.
//
// Waiting threads sleep. Jobs translate exceptions of libraries; one that escapes ends the program.
class WorkerPool {
 public:
  using Job = std::function<Status(std::size_t worker, std::size_t job)>;

  // Needs at least one thread. `initialise` runs once on each thread before its first job (for example, to
  // limit the threads of one operation), possibly on several threads at once.
  explicit WorkerPool(std::size_t threads, std::function<void(std::size_t worker)> initialise = {});
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  std::size_t threads() const { return threads_.size(); }

  // Runs jobs 0 … count − 1 and returns when none is running. After a failure no further job is taken. Jobs
  // are taken in order, so the returned failure is that of the lowest failing job, for any number of threads.
  // Writes of the jobs are visible to the caller afterwards. One Run at a time, and none from within a job.
  Status Run(std::size_t count, const Job& job);

 private:
  void Work(std::size_t worker);

  const std::function<void(std::size_t)> initialise_;
  Mutex mutex_;
  Condition work_or_stop_;
  Condition all_done_;
  const Job* job_ TRIBUTARY_GUARDED_BY(mutex_) = nullptr;  // Set during a Run.
  std::size_t count_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::size_t next_ TRIBUTARY_GUARDED_BY(mutex_) = 0;     // The lowest job not yet taken.
  std::size_t running_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // Jobs taken and not yet finished.
  std::optional<std::pair<std::size_t, Status>> failure_ TRIBUTARY_GUARDED_BY(mutex_);
  bool stop_ TRIBUTARY_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;
};

}  // namespace tributary::inline base
