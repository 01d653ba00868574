#include "tributary/fleet/remote/segment_sender.h"

#include "tributary/base/check.h"

namespace tributary::remote {

SegmentSender::SegmentSender(std::span<const Segment> parameters, std::span<const Segment> statistics,
                             TransferPlan plan, Send send)
    : parameters_(parameters),
      statistics_(statistics),
      plan_(std::move(plan)),
      send_(std::move(send)),
      segment_of_unit_(parameters.size(), 0) {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    missing_.push_back(plan_[i].last - plan_[i].first + 1);
    for (std::size_t unit = plan_[i].first; unit <= plan_[i].last; ++unit) segment_of_unit_[unit] = i;
  }
  thread_ = std::thread([this] { Run(); });
}

SegmentSender::~SegmentSender() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void SegmentSender::Ready(const Update& update, std::size_t unit) {
  const std::lock_guard lock(mutex_);
  update_ = update;
  std::size_t& missing = missing_[segment_of_unit_[unit]];
  TRIBUTARY_CHECK(missing > 0);
  if (--missing == 0) changed_.notify_all();
}

Status SegmentSender::Finish() {
  thread_.join();
  return status_;
}

void SegmentSender::Run() {
  for (std::size_t i = plan_.size(); i-- > 0;) {
    Update update;
    {
      std::unique_lock lock(mutex_);
      queued_.push_back(missing_[i] == 0);
      changed_.wait(lock, [&] { return missing_[i] == 0 || given_up_; });
      if (given_up_) return;
      update = update_;
    }
    Status status = SendRun(plan_[i], update);
    if (!status.ok()) {
      const std::lock_guard lock(mutex_);
      status_ = std::move(status);
      return;
    }
  }
}

Status SegmentSender::SendRun(const LayerRun& run, const Update& update) {
  const auto part = [&](UpdatePart which, std::span<const Segment> units, std::span<const float> values) -> Status {
    const std::size_t begin = units[run.first].offset, end = units[run.last].end();
    return begin == end ? OkStatus() : send_(which, begin, values.subspan(begin, end - begin), update.weight);
  };
  TRIBUTARY_RETURN_IF_ERROR(part(UpdatePart::kParameters, parameters_, update.parameters));
  return part(UpdatePart::kStatistics, statistics_, update.statistics);
}

}  // namespace tributary::remote
