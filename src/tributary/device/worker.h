#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/data/batches.h"
#include "tributary/device/layer_timing.h"
#include "tributary/device/local_data.h"
#include "tributary/device/subnetwork_steps.h"
#include "tributary/engine/executor.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/split_wire.h"

namespace tributary::inline device {

// Where training meets the transfer of weights and updates. Called on the thread that trains; empty ones are skipped.
struct TrainHooks {
  // Asked between steps: whether to give up.
  std::function<bool()> should_stop;
  // Returns when the unit's weights are in place, or false to give up. Asked unit by unit in the first pass; before it,
  // and for any other unit, the weights may still be written.
  std::function<bool(std::size_t unit)> await;
  // The unit's part of the update is as it will be; parts of other units may not be. Called in the last pass, as it goes
  // back, for every unit once.
  std::function<void(const Update& update, std::size_t unit)> ready;
  // Reads the batch of the i-th step, from 0, instead of the device's own data, which is then not needed; and how many
  // samples all of them have.
  std::function<void(std::uint64_t i, Batch& batch)> read;
  std::int64_t samples = 0;
  // Where the network is cut: the last node of the front, and how what it gives goes over the cut and comes back, at every
  // step. If nodes follow it, they are the network's tail, behind an input of their own (model/split_points.h); then for gradients
  // only.
  NodeIndex cut = 0;
  std::function<StatusOr<SplitReply>(const SplitBatch&)> cross;
  // Which channels the i-th step, from 0, trains; asked when it begins. Without it, all. Not over a cut.
  std::function<KeptAtoms(std::uint64_t i)> keep;
  FilterScaling scaling = FilterScaling::kNone;
  // Of local steps, instead of one that starts anew: goes on from its state, and has it afterwards. For as many parameters
  // as the network has.
  Optimiser* optimiser = nullptr;
  // To time the passes by.
  const Clock* clock = nullptr;
};

// What computing took, without waiting for weights.
struct StepTimes {
  LayerTimes layers;    // of the first pass forward, and of the last pass back
  Duration between{0};  // those two, without what went on at the other side of a cut

  Duration Total() const {
    Duration total = between;
    for (const Duration unit : layers.forward) total += unit;
    for (const Duration unit : layers.backward) total += unit;
    return total;
  }
};

// Does a device's work: the same code inside the simulator and on a real device. It owns the memory that work needs
// (gradients, and for local steps a copy of the weights and the optimiser's state) and can do one device's work after
// another's, so that a simulator needs as many workers as threads, not as devices.
//
// One thread at a time. What it answers is valid until the next call.
class Worker {
 public:
  explicit Worker(std::shared_ptr<const Model> model, ExecutorOptions options = {});

  struct Trained {
    Update update;
    TrainingMetrics metrics;
    StepTimes times;  // if a clock was given
  };
  // Fails if the device has no training samples, or if the loss is not a number: then there is no update. Cancelled if
  // a hook says so.
  StatusOr<Trained> Train(const TrainAssignment& assignment, const SharedWeights& weights, DeviceId device,
                          const LocalData& data, const TrainHooks& hooks = {});

  StatusOr<EvaluationTotals> Evaluate(const EvaluateAssignment& assignment, const SharedWeights& weights,
                                      const LocalData& data);
  StatusOr<Moments> Calibrate(const CalibrateAssignment& assignment, const SharedWeights& weights,
                              DeviceId device, const LocalData& data);

 private:
  // Executors on the caller's weights are made once per place the weights lie in, not once per assignment.
  Executor& OnShared(const SharedWeights& weights);
  Executor& TailOnShared(const SharedWeights& weights);
  Executor& OnSharedWithStatistics(const SharedWeights& weights);
  Executor& OnCopy();
  SubnetworkSteps& SubnetworkStepsFor(FilterScaling scaling);
  // Everything for an assignment whose weights come unit by unit.
  class Training;

  std::shared_ptr<const Model> model_;
  ExecutorOptions options_;
  FlatBuffer gradients_;
  FlatBuffer statistics_;
  FlatBuffer copy_;  // of the parameters; allocated when first needed
  const float* shared_at_ = nullptr;
  std::optional<Executor> on_shared_, on_copy_;
  std::optional<Executor> tail_;  // likewise on the caller's weights, with a pass of its own under way
  std::unique_ptr<Optimiser> optimiser_;
  std::optional<SubnetworkSteps> subnetwork_;  // where only some channels are trained
  Batch batch_;
};

}  // namespace tributary::inline device
