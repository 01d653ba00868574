#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"

namespace tributary {

// Takes the updates of a round. May be called from several threads at once, in any order: whoever implements it must
// give the same result for every order. A Status refuses the update and nothing else; it must then leave no trace.
class UpdateSink {
 public:
  virtual ~UpdateSink() = default;
  virtual Status Accept(DeviceId device, const Update& update) = 0;
};

struct RoundRequest {
  RoundId round;
  TrainAssignment assignment;
  std::vector<DeviceId> participants;  // each once
  SharedWeights weights;               // must stay as they are until the round is over
  // The round ends when every participant has answered or is known to be gone; with a deadline, also then, provided
  // that `quorum` updates have arrived. Before the quorum is reached it goes on past the deadline.
  std::optional<Duration> deadline;
  std::size_t quorum = 0;
};

// The one seam between real and simulated: a number of devices that can be given work. Both kinds run the same device
// code; only who supplies time and transport differs. One caller at a time.
class Fleet {
 public:
  virtual ~Fleet() = default;

  virtual std::span<const DeviceProfile> devices() const = 0;
  // The time the fleet lives in, virtual or real.
  virtual const Clock& clock() const = 0;

  // Runs one round of training. Updates go to `sink` while it lasts; every participant has a report at the end.
  // Fails only if the fleet itself fails: what goes wrong on a device is its outcome.
  virtual StatusOr<RoundReport> Train(const RoundRequest& request, UpdateSink& sink) = 0;

  // Sums over the samples that these devices hold out; a device that is away adds nothing.
  virtual StatusOr<EvaluationTotals> Evaluate(const EvaluateAssignment& assignment, const SharedWeights& weights,
                                              std::span<const DeviceId> participants) = 0;
  virtual StatusOr<Moments> Calibrate(const CalibrateAssignment& assignment, const SharedWeights& weights,
                                      std::span<const DeviceId> participants) = 0;
};

}  // namespace tributary
