#include "tributary/base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <string>

namespace tributary::inline base {
namespace {

TEST(WorkerPool, RunsEveryJobOnceAndIsReusable) {
  for (const std::size_t threads : {1, 2, 4}) {
    WorkerPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    // Plain ints, written by the workers and read here: the thread sanitizer sees whether Run orders them.
    std::vector<int> runs(500, 0);
    for (int repeat = 1; repeat <= 20; ++repeat) {
      ASSERT_TRUE(pool.Run(runs.size(),
                           [&](std::size_t, std::size_t job) {
                             ++runs[job];
                             return OkStatus();
                           })
                      .ok());
      ASSERT_EQ(runs, std::vector<int>(runs.size(), repeat));
    }
    EXPECT_TRUE(pool.Run(0, [](std::size_t, std::size_t) { return InvalidArgument("never runs"); }).ok());
  }
}

TEST(WorkerPool, JobsOfOneWorkerNeverRunAtOnce) {
  WorkerPool pool(4);
  std::vector<int> scratch(pool.threads(), 0);  // Not atomic, for the same reason.
  ASSERT_TRUE(pool.Run(2000,
                       [&](std::size_t worker, std::size_t) {
                         ++scratch[worker];
                         return OkStatus();
                       })
                  .ok());
  int sum = 0;
  for (const int count : scratch) sum += count;
  EXPECT_EQ(sum, 2000);
}

TEST(WorkerPool, RunsAsManyJobsAtOnceAsItHasThreads) {
  WorkerPool pool(3);
  std::latch together(3);
  // Ends only if all three are under way at the same time.
  EXPECT_TRUE(pool.Run(3,
                       [&](std::size_t, std::size_t) {
                         together.arrive_and_wait();
                         return OkStatus();
                       })
                  .ok());
}

TEST(WorkerPool, ReturnsTheFailureOfTheLowestJob) {
  for (const std::size_t threads : {1, 2, 4}) {
    WorkerPool pool(threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::atomic<int> after = 0;
      const Status status = pool.Run(64, [&](std::size_t, std::size_t job) {
        if (job > 40) ++after;
        return job % 10 == 7 ? InvalidArgument("job " + std::to_string(job) + " failed") : OkStatus();
      });
      ASSERT_EQ(status, InvalidArgument("job 7 failed"));
      if (threads == 1) {
        ASSERT_EQ(after, 0);  // A single thread stops at once.
      }
    }
    EXPECT_TRUE(pool.Run(3, [](std::size_t, std::size_t) { return OkStatus(); }).ok())
        << "a failure does not stick";
  }
}

TEST(WorkerPool, TheLowestFailureWinsEvenWhenItComesLast) {
  WorkerPool pool(2);
  std::latch second_failed(1);
  const Status status = pool.Run(2, [&](std::size_t, std::size_t job) {
    if (job == 0) {
      second_failed.wait();
      return InvalidArgument("first");
    }
    second_failed.count_down();
    return InvalidArgument("second");
  });
  EXPECT_EQ(status, InvalidArgument("first"));
}

thread_local std::size_t initialised_as = 99;

TEST(WorkerPool, InitialisesEachThreadOnceBeforeItsJobs) {
  std::atomic<int> calls = 0;
  WorkerPool pool(3, [&](std::size_t worker) {
    initialised_as = worker;
    ++calls;
  });
  std::latch together(3);
  std::mutex mutex;
  std::set<std::size_t> seen;
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_TRUE(pool.Run(3,
                         [&](std::size_t worker, std::size_t) {
                           if (repeat == 0) together.arrive_and_wait();
                           const std::lock_guard lock(mutex);
                           EXPECT_EQ(initialised_as, worker);
                           seen.insert(worker);
                           return OkStatus();
                         })
                    .ok());
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(calls, 3);
}

TEST(WorkerPool, EndsWithoutEverHavingRun) { WorkerPool pool(2); }

}  // namespace
}  // namespace tributary::inline base
