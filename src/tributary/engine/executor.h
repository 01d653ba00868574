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

// Order of the elements of images inside the engine; the flat buffers do not change with it.
enum class MemoryFormat {
  kAuto,  // what measured faster for the network's kind of layers (docs/benchmarks.md); never timed at run time, so
          // that the same run gives the same bits
  kContiguous,
  kChannelsLast,
};

struct ExecutorOptions {
  MemoryFormat format = MemoryFormat::kAuto;
  TorchDevice device = TorchDevice::kCpu;
};

// The memory a network lives in, owned by the caller and laid out as Model says. Several executors may share the
// parameters as long as they are not written during a pass; statistics (written by training) and gradients may not be
// shared between executors that train at the same time. `gradients` may be empty if nothing is trained.
struct NetworkMemory {
  std::span<float> parameters;
  std::span<float> statistics;
  std::span<float> gradients;
};

// Called during a pass on the thread that runs it; each names a transfer unit.
struct PassHooks {
  // The unit's parameters must be in place when this returns. May wait for them, and may write them. If it says no, the
  // pass is given up, with Cancelled.
  std::function<bool(std::size_t unit)> before_forward;
  // The way forward is done, with this loss (0 where the pass has none); the way back begins.
  std::function<void(double loss)> forward_done;
  // The unit's gradient is complete in the flat buffer, while earlier layers are still going backward, and its
  // parameters are not needed any more: they may be written. Units come in the order their gradients complete: the last
  // layers first.
  std::function<void(std::size_t unit)> gradient_ready;
};

struct PassOptions {
  NodeIndex first = 1;          // start here instead of at the image: the node after a cut
  double label_smoothing = 0;   // share of the target spread evenly over all classes
  Rng* rng = nullptr;           // masks of dropout nodes; needed if the network has any and trains
  bool input_gradient = false;  // keep the gradient of the input too, where it is not the image
  PassHooks hooks;
};

// Samples as batch × channels × height × width, one after the other, and one class each.
struct BatchView {
  std::span<const float> inputs;
  std::span<const std::int32_t> labels;
};

struct PassResult {
  double loss = 0;           // mean over the batch
  std::int64_t correct = 0;  // samples whose largest score is their label's
};

// Runs a model's graph, whole or from cut to cut, forward and backward, on memory it does not own. This is the only
// door to torch: nothing here mentions its types.
//
// One thread at a time. A whole training pass is Train(). Split at a cut, the same pass is
//   1. Forward(1, cut, images)  on the side that has the images;
//   2. Train() with first = cut + 1 on the side that has the labels, then input_gradient();
//   3. Backward(that gradient)  on the first side.
// Each pass that goes backward overwrites the gradients of the units it ran, and no others.
// Failures (memory that cannot be had, a label that is no class) come back as a Status and leave parameters alone.
//
// Where passes run on another device than the processor, a unit's weights are copied there when a pass comes to it, and its
// gradient back when it is there, so that hooks see what they see on the processor. Steps in which nobody else has to do with
// weights and gradients need not copy them:
//   1. Hold(): the weights as they are now;
//   2. Train(), each followed by StepResident(); Evaluate() and Predict() at any time;
//   3. Release(): parameters and statistics are in the caller's memory again.
// In between that memory is neither read nor written. On the processor this is the same, with no copies to be saved.
class Executor {
 public:
  Executor(std::shared_ptr<const Model> model, NetworkMemory memory, ExecutorOptions options = {});
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  // Forward and backward; batch norms use and update with the batch's statistics.
  StatusOr<PassResult> Train(const BatchView& batch, const PassOptions& options = {});

  // Forward only, with running statistics and without dropout. The loss is the plain one, without smoothing.
  StatusOr<PassResult> Evaluate(const BatchView& batch, const PassOptions& options = {});

  // Runs nodes options.first … last in training mode and keeps what Backward() needs. The output stays valid until the
  // next pass.
  StatusOr<std::span<const float>> Forward(std::span<const float> inputs, NodeIndex last,
                                           const PassOptions& options = {});
  // Class scores or activations after node `last`, in evaluation mode.
  StatusOr<std::span<const float>> Predict(std::span<const float> inputs, NodeIndex last,
                                           const PassOptions& options = {});

  // Runs forward with batch statistics and without dropout, and adds up what every batch norm reads: into `sums` Σx
  // where the running mean lies and Σx² where the running variance lies, into `counts` how many values that were.
  // Both have the size of the statistics. The running statistics are updated too, as in training.
  Status AddMoments(std::span<const float> inputs, std::span<double> sums, std::span<double> counts);

  // Goes back through the last Forward() from the gradient of its output.
  Status Backward(std::span<const float> output_gradient, const PassHooks& hooks = {});

  // After a backward pass that started past node 1 or was asked for it: the gradient of its input. Valid until the next
  // pass.
  std::span<const float> input_gradient() const;

  // Local steps with an optimiser of these options, which goes on from `state` and leaves its own there, if one is given;
  // with a pull towards the weights held (FedProx). See above. Hold again starts over.
  Status Hold(const OptimiserOptions& optimiser, double prox = 0, Optimiser* state = nullptr);
  Status StepResident(double learning_rate);
  Status Release();

  // Whether passes run elsewhere than on the processor.
  bool elsewhere() const;
  const Model& model() const;

 private:
  class Torch;
  std::unique_ptr<Torch> torch_;
};

}  // namespace tributary::inline engine
