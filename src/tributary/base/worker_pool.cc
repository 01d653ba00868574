#include "tributary/base/worker_pool.h"

#include "tributary/base/check.h"

namespace tributary {

WorkerPool::WorkerPool(std::size_t threads, std::function<void(std::size_t worker)> initialise)
    : initialise_(std::move(initialise)) {
  TRIBUTARY_CHECK(threads > 0);
  threads_.reserve(threads);
  for (std::size_t worker = 0; worker < threads; ++worker) {
    threads_.emplace_back([this, worker] { Work(worker); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_or_stop_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status WorkerPool::Run(std::size_t count, const Job& job) {
  if (count == 0) return OkStatus();
  std::unique_lock lock(mutex_);
  TRIBUTARY_CHECK(job_ == nullptr);
  job_ = &job;
  count_ = count;
  next_ = 0;
  failure_.reset();
  work_or_stop_.notify_all();
  all_done_.wait(lock, [&] { return next_ == count_ && running_ == 0; });
  job_ = nullptr;
  return failure_ ? std::move(failure_->second) : OkStatus();
}

void WorkerPool::Work(std::size_t worker) {
  if (initialise_) initialise_(worker);
  std::unique_lock lock(mutex_);
  while (true) {
    work_or_stop_.wait(lock, [&] { return stop_ || (job_ != nullptr && next_ < count_); });
    if (stop_) return;
    const std::size_t index = next_++;
    const Job& job = *job_;
    ++running_;
    lock.unlock();
    Status status = job(worker, index);
    lock.lock();
    --running_;
    if (!status.ok()) {
      if (!failure_ || index < failure_->first) failure_.emplace(index, std::move(status));
      next_ = count_;
    }
    if (next_ == count_ && running_ == 0) all_done_.notify_one();
  }
}

}  // namespace tributary
