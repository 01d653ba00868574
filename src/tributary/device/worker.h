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

// Hooks for the transfer of weights and updates. Called on the training thread; empty ones are skipped.
struct TrainHooks {
  // Checked between steps: whether to stop.
  std::function<bool()> should_stop;
  // Returns when the unit's weights are in place, or false to stop. Called per unit in the first pass; before
  // that call the unit's weights may still be written.
  std::function<bool(std::size_t unit)> await;
  // The unit's part of the update is final. Called once per unit, in the last backward pass.
  std::function<void(const Update& update, std::size_t unit)> ready;
  // Reads the batch of step i, from 0, instead of the device's own data; `samples` is the total.
  std::function<void(std::uint64_t i, Batch& batch)> read;
  std::int64_t samples = 0;
  // Changes every batch that was read. For simulated attacks.
  std::function<void(Batch& batch)> spoil;
  // Split models: the last node of the front, and the exchange over the cut at every step. Nodes after `cut`
  // are the tail, behind an input of their own (model/split_points.h), which only supports gradients.
  NodeIndex cut = 0;
  std::function<StatusOr<SplitReply>(const SplitBatch&)> cross;
  // Channels that step i, from 0, trains, called when the step begins. By default all. Not with a cut.
  std::function<KeptAtoms(std::uint64_t i)> keep;
  FilterScaling scaling = FilterScaling::kNone;
  // For local steps: the optimiser whose state to continue, instead of a new one, of the network's size.
  Optimiser* optimiser = nullptr;
  const Clock* clock = nullptr;
};

// Compute times without waiting for weights.
struct StepTimes {
  LayerTimes layers;    // first forward pass and last backward pass
  Duration between{0};  // between those two, without time over the cut

  Duration Total() const {
    Duration total = between;
    for (const Duration unit : layers.forward) total += unit;
    for (const Duration unit : layers.backward) total += unit;
    return total;
  }
};

// Does a device's work, in the simulator and on real devices. Owns the memory for it (gradients; for local
// steps a copy of the weights and the optimiser's state) and can serve one device after another, so a
// simulator needs one worker per thread, not per device.
//
// Not thread-safe. Results are valid until the next call.
class Worker {
 public:
  explicit Worker(std::shared_ptr<const Model> model, ExecutorOptions options = {});

  struct Trained {
    Update update;
    TrainingMetrics metrics;
    StepTimes times;  // if a clock was given
  };
  // Fails without training samples, or if the loss is not finite. Cancelled if a hook stops it.
  StatusOr<Trained> Train(const TrainAssignment& assignment, const SharedWeights& weights, DeviceId device,
                          const LocalData& data, const TrainHooks& hooks = {});

  StatusOr<EvaluationTotals> Evaluate(const EvaluateAssignment& assignment, const SharedWeights& weights,
                                      const LocalData& data);
  StatusOr<Moments> Calibrate(const CalibrateAssignment& assignment, const SharedWeights& weights,
                              DeviceId device, const LocalData& data);

 private:
  // Executors on the caller's weights are reused while the weights' address stays the same.
  void MakeExecutor(std::optional<Executor>& executor, std::span<const float> parameters);
  Executor& OnShared(const SharedWeights& weights);
  Executor& TailOnShared(const SharedWeights& weights);
  Executor& OnSharedWithStatistics(const SharedWeights& weights);
  Executor& OnCopy();
  SubnetworkSteps& SubnetworkStepsFor(FilterScaling scaling);
  class Training;

  std::shared_ptr<const Model> model_;
  ExecutorOptions options_;
  FlatBuffer gradients_;
  FlatBuffer statistics_;
  FlatBuffer copy_;  // of the parameters; allocated when first needed
  const float* shared_at_ = nullptr;
  std::optional<Executor> on_shared_, on_copy_;
  std::optional<Executor> tail_;  // also on the caller's weights, for a second pass at the same time
  std::unique_ptr<Optimiser> optimiser_;
  std::optional<SubnetworkSteps> subnetwork_;  // for training some channels
  Batch batch_;
};

}  // namespace tributary::inline device
