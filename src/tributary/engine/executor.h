#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/engine/torch_device.h"
#include "tributary/model/model.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline engine {

// Element order of images inside the engine. The flat buffers are not affected.
enum class MemoryFormat {
  kAuto,  // the faster one in measurements of such layers (docs/benchmarks.md); not timed at run time, so
          // that runs are bit-reproducible
  kContiguous,
  kChannelsLast,
};

struct ExecutorOptions {
  MemoryFormat format = MemoryFormat::kAuto;
  TorchDevice device = TorchDevice::kCpu;
};

// A network's memory, owned by the caller, in the layouts of Model. Executors may share parameters that are
// not written during a pass, but executors that train concurrently must not share statistics (training writes
// them) or gradients. `gradients` may be empty if nothing is trained.
struct NetworkMemory {
  std::span<float> parameters;
  std::span<float> statistics;
  std::span<float> gradients;
};

// Called during a pass on the thread that runs it, with a transfer unit.
struct PassHooks {
  // The unit's parameters must be in place on return. May wait for them and may write them. Returning false
  // ends the pass with Cancelled.
  std::function<bool(std::size_t unit)> before_forward;
  // The forward pass is complete, with this loss (0 if the pass has none); the backward pass begins.
  std::function<void(double loss)> forward_done;
  // The unit's gradient is complete in the flat buffer, while the backward pass of earlier layers continues.
  // The unit's parameters may be written. Units come in the order of completion, last layers first.
  std::function<void(std::size_t unit)> gradient_ready;
};

struct PassOptions {
  NodeIndex first = 1;          // 1 to start at the input, else the node after a cut
  double label_smoothing = 0;   // share of the target spread evenly over all classes
  Rng* rng = nullptr;           // for dropout masks; required to train a network with dropout nodes
  bool input_gradient = false;  // compute the input's gradient also for first = 1 (part of a network)
  PassHooks hooks;
};

// Samples in batch × channels × height × width order, and one class per sample.
struct BatchView {
  std::span<const float> inputs;
  std::span<const std::int32_t> labels;
};

struct PassResult {
  double loss = 0;           // mean over the batch
  std::int64_t correct = 0;  // samples whose label has the largest score
};

// Runs a model's graph, whole or between cuts, forward and backward, on memory that it does not own. No torch
// types appear in this interface.
//
// Not thread-safe. Train() is a whole training pass. Split at a cut, the same pass is
//   1. Forward(1, cut, images)  on the side with the images;
//   2. Train() with first = cut + 1 on the side with the labels, then input_gradient();
//   3. Backward(that gradient)  on the first side.
// A backward pass overwrites the gradients of exactly the units it ran. Failures (out of memory, an invalid
// label) are returned as a Status and leave parameters unchanged.
//
// On a GPU, a unit's weights are copied there when a pass reaches it, and its gradient is copied back when
// complete: hooks see the same as on a CPU. If only the executor uses them, steps need no copies:
//   1. Hold(): copies the current weights;
//   2. Train(), each followed by StepResident(); Evaluate() and Predict() at any time;
//   3. Release(): copies parameters and statistics back. Until then the caller's memory is unused.
// On a CPU these calls have the same effect, and there are no copies to avoid.
class Executor {
 public:
  Executor(std::shared_ptr<const Model> model, NetworkMemory memory, ExecutorOptions options = {});
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  // Forward and backward. Batch norms use the batch's statistics and update the running statistics.
  StatusOr<PassResult> Train(const BatchView& batch, const PassOptions& options = {});

  // Forward only, with running statistics, without dropout and without label smoothing in the loss.
  StatusOr<PassResult> Evaluate(const BatchView& batch, const PassOptions& options = {});

  // The output of nodes options.first … last in training mode, for Backward(). Valid until the next pass.
  StatusOr<std::span<const float>> Forward(std::span<const float> inputs, NodeIndex last,
                                           const PassOptions& options = {});
  // Class scores or activations after node `last`, in evaluation mode.
  StatusOr<std::span<const float>> Predict(std::span<const float> inputs, NodeIndex last,
                                           const PassOptions& options = {});

  // Runs forward with batch statistics and without dropout, and adds up the inputs of every batch norm: in
  // `sums` Σx in the running mean's place and Σx² in the variance's, in `counts` the numbers of values. Both
  // have the size of the statistics. Also updates the running statistics.
  Status AddMoments(std::span<const float> inputs, std::span<double> sums, std::span<double> counts);

  // Backward pass of the last Forward(), from the gradient of its output.
  Status Backward(std::span<const float> output_gradient, const PassHooks& hooks = {});

  // The input's gradient, if the pass started after a cut or with input_gradient. Valid until the next pass.
  std::span<const float> input_gradient() const;

  // Local steps, see above, with an optimiser that continues from `state` and is stored back there (fresh if
  // null), and a pull towards the held weights (FedProx). Calling Hold again starts over.
  Status Hold(const OptimiserOptions& optimiser, double prox = 0, Optimiser* state = nullptr);
  Status StepResident(double learning_rate);
  Status Release();

  // Whether passes run on another device than the CPU.
  bool elsewhere() const;
  const Model& model() const;

 private:
  class Torch;
  std::unique_ptr<Torch> torch_;
};

}  // namespace tributary::inline engine
