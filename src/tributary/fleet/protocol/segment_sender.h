#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/fleet/report.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline protocol {

// Sends an update by segments, from the last to the first, on a thread of its own, while the rest is still computed: a
// segment leaves when all its units are ready and the one before it has left.
class SegmentSender {
 public:
  // Sends what an update has of a run of units; blocks until it has left.
  using Send = std::function<Status(const LayerRun& run, const Update& update)>;

  // `plan` has runs of units in forward order.
  SegmentSender(TransferPlan plan, Send send);
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

  const TransferPlan plan_;
  const Send send_;
  std::vector<bool> queued_;  // of the thread, until it is joined
  std::vector<std::size_t> segment_of_unit_;

  Mutex mutex_;
  Condition changed_;
  std::vector<std::size_t> missing_ TRIBUTARY_GUARDED_BY(mutex_);  // units per segment
  Update update_ TRIBUTARY_GUARDED_BY(mutex_);
  bool given_up_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  Status status_ TRIBUTARY_GUARDED_BY(mutex_);

  std::thread thread_;  // Last: it uses the others.
};

}  // namespace tributary::inline protocol
