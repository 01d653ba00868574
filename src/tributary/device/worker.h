#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/data/batches.h"
#include "tributary/device/local_data.h"
#include "tributary/engine/executor.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/report.h"

namespace tributary {

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
  };
  // Fails if the device has no training samples, or if the loss is not a number: then there is no update. Cancelled if
  // `should_stop`, asked between steps, says so.
  StatusOr<Trained> Train(const TrainAssignment& assignment, const SharedWeights& weights, DeviceId device,
                          const LocalData& data, const std::function<bool()>& should_stop = {});

  StatusOr<EvaluationTotals> Evaluate(const EvaluateAssignment& assignment, const SharedWeights& weights,
                                      const LocalData& data);
  StatusOr<Moments> Calibrate(const CalibrateAssignment& assignment, const SharedWeights& weights, DeviceId device,
                              const LocalData& data);

 private:
  // Executors on the caller's weights are made once per place the weights lie in, not once per assignment.
  Executor& OnShared(const SharedWeights& weights);
  Executor& OnCopy(const SharedWeights& weights);
  StatusOr<PassResult> Pass(Executor& executor, const TrainAssignment& assignment, std::uint64_t step, DeviceId device,
                            const LocalData& data);
  StatusOr<Trained> Gradient(const TrainAssignment& assignment, const SharedWeights& weights, DeviceId device,
                             const LocalData& data);
  StatusOr<Trained> Change(const TrainAssignment& assignment, const SharedWeights& weights, DeviceId device,
                           const LocalData& data, const std::function<bool()>& should_stop);

  std::shared_ptr<const Model> model_;
  ExecutorOptions options_;
  FlatBuffer gradients_;
  FlatBuffer statistics_;
  FlatBuffer copy_;  // of the parameters; allocated when first needed
  const float* shared_at_ = nullptr;
  std::optional<Executor> on_shared_, on_copy_;
  std::unique_ptr<Optimiser> optimiser_;
  Batch batch_;
};

}  // namespace tributary
