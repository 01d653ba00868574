#include "tributary/base/worker_pool.h"

#include "tributary/base/check.h"

namespace tributary::inline base {

WorkerPool::WorkerPool(std::size_t threads, std::function<void(std::size_t worker)> initialise)
    : initialise_(std::move(initialise)) {
  TRIBUTARY_CHECK(threads > 0);
  threads_.reserve(threads);
  for (std::size_t worker = 0; worker < threads; ++worker)
    threads_.emplace_back([this, worker] { Work(worker); });
}

WorkerPool::~WorkerPool() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  work_or_stop_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

Status WorkerPool::Run(std::size_t count, const Job& job) {
  if (count == 0) return OkStatus();
  MutexLock lock(mutex_);
  TRIBUTARY_CHECK(job_ == nullptr);
  job_ = &job;
  count_ = count;
  next_ = 0;
  failure_.reset();
  work_or_stop_.NotifyAll();
  while (next_ < count_ || running_ > 0) all_done_.Wait(lock);
  job_ = nullptr;
  return failure_ ? std::move(failure_->second) : OkStatus();
}

void WorkerPool::Work(std::size_t worker) {
  if (initialise_) initialise_(worker);
  MutexLock lock(mutex_);
  while (true) {
    while (!stop_ && (job_ == nullptr || next_ == count_)) work_or_stop_.Wait(lock);
    if (stop_) return;
    const std::size_t index = next_++;
    const Job& job = *job_;
    ++running_;
    lock.Unlock();
    Status status = job(worker, index);
    lock.Lock();
    --running_;
    if (!status.ok()) {
      if (!failure_ || index < failure_->first) failure_.emplace(index, std::move(status));
      next_ = count_;
    }
    if (next_ == count_ && running_ == 0) all_done_.NotifyOne();
  }
}

}  // namespace tributary::inline base
