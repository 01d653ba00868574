#pragma once

#include <limits>
#include <map>
#include <span>

#include "tributary/base/mutex.h"
#include "tributary/policy/aggregation/aggregator.h"
#include "tributary/policy/trust/update_norm.h"

namespace tributary::inline policy {

// Limits every update of a round on its way to an aggregator:
//
//   weight   An update counts with at most `most_weight`.
//   norm     An update whose parameters are longer than `most_norm` counts as the update of the same direction that is as
//            long, with its full weight. So it cannot outweigh others by its length, and says no less by its direction.
//            Running statistics are values, not changes, and stay as they are.
//
// Both limits are known before the round begins; an update that is within them passes as it is. Pieces of an update that
// turns out too long are taken back from the aggregator, read from its store and given to it again.
//
// Assumes that a device's update is committed once, or taken in one call. Threads as for any UpdateSink; Begin and taken()
// when no other call is under way.
class LimitedSink final : public UpdateSink {
 public:
  // What became of a committed update.
  struct Taken {
    double norm = 0;        // of the parameters, as they came
    double counted = 0;     // the same, as they count
    double weight = 0;      // that it counts with
    double statistics = 0;  // norm of the running statistics
    bool capped = false;
    bool clipped = false;
  };

  // The store must be the aggregator's, and outlive this.
  explicit LimitedSink(UpdateStore& store) : store_(store) {}

  // Forgets the last round. The aggregator must outlive this one.
  void Begin(UpdateSink& aggregator, double most_weight, double most_norm);

  Status Stage(WorkId work, const UpdatePiece& piece) override;
  Status Commit(WorkId work, double weight) override;
  Status Discard(WorkId work) override;
  Status Take(WorkId work, std::span<const UpdatePiece> pieces) override;

  double most_weight() const { return most_weight_; }
  // Of all that were committed.
  std::map<WorkId, Taken> taken() const {
    const MutexLock lock(mutex_);
    return taken_;
  }

 private:
  UpdateStore& store_;
  UpdateSink* aggregator_ = nullptr;
  double most_weight_ = std::numeric_limits<double>::infinity();
  double most_norm_ = std::numeric_limits<double>::infinity();
  mutable Mutex mutex_;
  struct Norms {
    UpdateNorm parameters, statistics;
    UpdateNorm& Of(UpdatePart part) { return part == UpdatePart::kParameters ? parameters : statistics; }
  };
  std::map<WorkId, Norms> coming_ TRIBUTARY_GUARDED_BY(mutex_);
  std::map<WorkId, Taken> taken_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline policy
