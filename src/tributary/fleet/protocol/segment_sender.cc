#include "tributary/fleet/protocol/segment_sender.h"

#include "tributary/base/check.h"

namespace tributary::inline protocol {

SegmentSender::SegmentSender(TransferPlan plan, Send send)
    : plan_(std::move(plan)),
      send_(std::move(send)),
      segment_of_unit_(plan_.empty() ? 0 : plan_.back().last + 1, 0) {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    missing_.push_back(plan_[i].last - plan_[i].first + 1);
    for (std::size_t unit = plan_[i].first; unit <= plan_[i].last; ++unit) segment_of_unit_[unit] = i;
  }
  thread_ = std::thread([this] { Run(); });
}

SegmentSender::~SegmentSender() {
  {
    const MutexLock lock(mutex_);
    given_up_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void SegmentSender::Ready(const Update& update, std::size_t unit) {
  const MutexLock lock(mutex_);
  update_ = update;
  std::size_t& missing = missing_[segment_of_unit_[unit]];
  TRIBUTARY_CHECK(missing > 0);
  if (--missing == 0) changed_.NotifyAll();
}

Status SegmentSender::Finish() {
  thread_.join();
  const MutexLock lock(mutex_);
  return status_;
}

void SegmentSender::Run() {
  for (std::size_t i = plan_.size(); i-- > 0;) {
    Update update;
    {
      MutexLock lock(mutex_);
      queued_.push_back(missing_[i] == 0);
      while (missing_[i] > 0 && !given_up_) changed_.Wait(lock);
      if (given_up_) return;
      update = update_;
    }
    Status status = send_(plan_[i], update);
    if (!status.ok()) {
      const MutexLock lock(mutex_);
      status_ = std::move(status);
      return;
    }
  }
}

}  // namespace tributary::inline protocol
