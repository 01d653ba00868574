#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/report.h"
#include "tributary/model/layout.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::remote {

// Sends an update by segments, from the last to the first, on a thread of its own, while the rest is still computed: a
// segment leaves when all its units are ready and the one before it has left.
class SegmentSender {
 public:
  // Sends a run of an update's values; blocks until they have left.
  using Send = std::function<Status(UpdatePart, std::size_t offset, std::span<const float> values, double weight)>;

  // The spans must stay as they are. `plan` has runs of these units in forward order.
  SegmentSender(std::span<const Segment> parameters, std::span<const Segment> statistics, TransferPlan plan, Send send);
  // Gives up what has not left yet.
  ~SegmentSender();

  // This unit's values are as they will be, and stay so until it is finished. From any thread, each unit once.
  void Ready(const Update& update, std::size_t unit);
  // Waits until everything has left. Every unit must be ready by now. The first failure to send, if there is one; then
  // the rest is not sent.
  Status Finish();
  // After Finish: for each segment in the order of sending, whether it was ready before the one before it had left.
  const std::vector<bool>& queued() const { return queued_; }

 private:
  void Run();
  Status SendRun(const LayerRun& run, const Update& update);

  const std::span<const Segment> parameters_, statistics_;
  const TransferPlan plan_;
  const Send send_;
  std::vector<bool> queued_;
  std::vector<std::size_t> segment_of_unit_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::size_t> missing_;  // units per segment
  Update update_;
  bool given_up_ = false;
  Status status_;

  std::thread thread_;  // Last: it uses the others.
};

}  // namespace tributary::remote
