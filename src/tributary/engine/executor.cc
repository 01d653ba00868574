#include "tributary/engine/executor.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "tributary/base/check.h"
#include "tributary/engine/leaves.h"
#include "tributary/engine/operations.h"

namespace tributary::inline engine {
namespace {

// Ends a pass that a hook cancelled.
struct GivenUp {};

// A pass is recorded while no other thread submits work to the device: libraries that time algorithms
// synchronise the whole device, which would break the recording. Replaying needs no lock.
//
// The lock guards the device, not data, and CPU passes do not take it: annotations cannot express that.
using RecordingMutex = std::shared_mutex;               // Unchecked lock: see above.
using Recording = std::unique_lock<RecordingMutex>;     // Unchecked lock: see above.
using NotRecording = std::shared_lock<RecordingMutex>;  // Unchecked lock: see above.

RecordingMutex& MutexOfRecordings() {
  static RecordingMutex mutex;
  return mutex;
}

// Converts torch's exceptions to a Status; no other place catches them.
template <typename Run>
auto Guarded(const TorchQueue& queue, Run run) -> decltype(run()) {
  try {
    const TorchQueue::InUse in_use(queue);
    return run();
  } catch (const GivenUp&) {
    return Cancelled("the pass was given up");
  } catch (const c10::Error& error) {
    return ResourceExhausted(std::string("the engine failed: ") + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return ResourceExhausted(std::string("the engine failed: ") + error.what());
  }
}

template <typename... Kinds>
bool IsAnyOf(const Node& node) {
  return (std::holds_alternative<Kinds>(node.operation) || ...);
}

// Measured (docs/benchmarks.md): channels-last is faster where norms, activations and pooling matter; wide
// chains of convolutions without norms, such as VGG, are slightly faster contiguous.
bool PreferChannelsLast(const Model& model) {
  constexpr std::int64_t kSmall = 2'000'000;
  return TotalParameters(model.costs) < kSmall ||
         std::ranges::any_of(model.graph.nodes(), IsAnyOf<BatchNorm, GroupNorm>);
}

// Nodes whose backward pass does not need their output, and whose output has separate memory.
bool OutputIsFree(const Node& node) {
  return IsAnyOf<Conv, BatchNorm, GroupNorm, Linear>(node) || (IsAnyOf<Add>(node) && node.inputs.size() > 1);
}

// Nodes that may work in place: the only reader of an output that nothing else needs.
std::vector<bool> NodesThatMayOverwriteTheirInput(const Graph& graph) {
  std::vector<int> readers(graph.size(), 0);
  for (const Node& node : graph.nodes()) {
    for (const NodeIndex source : node.inputs) ++readers[source];
  }
  std::vector<bool> may(graph.size(), false);
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    if (graph.node(i).inputs.empty()) continue;
    const NodeIndex source = graph.node(i).inputs[0];
    may[i] = readers[source] == 1 && OutputIsFree(graph.node(source));
  }
  return may;
}

}  // namespace

class Executor::Torch {
 public:
  enum class Mode { kTrain, kEvaluate, kCalibrate };

  Torch(std::shared_ptr<const Model> model, NetworkMemory memory, ExecutorOptions options)
      : queue_(options.device),
        in_use_(std::in_place, queue_),
        model_(std::move(model)),
        channels_last_(options.format == MemoryFormat::kChannelsLast ||
                       (options.format == MemoryFormat::kAuto && PreferChannelsLast(*model_))),
        memory_(*model_, memory, options.device, channels_last_),
        leaves_(*model_, memory_),
        trains_(!memory.gradients.empty() || model_->parameters.size == 0),
        may_overwrite_input_(NodesThatMayOverwriteTheirInput(model_->graph)),
        first_node_of_unit_(model_->graph.size()),
        unit_of_node_(model_->graph.size()) {
    for (std::size_t unit = 0; unit < model_->units.size(); ++unit) {
      first_node_of_unit_[model_->units[unit].nodes.front()] = unit;
      for (const NodeIndex node : model_->units[unit].nodes) unit_of_node_[node] = unit;
    }
    for (const Node& node : model_->graph.nodes()) {
      const auto* dropout = std::get_if<Dropout>(&node.operation);
      if (dropout != nullptr && dropout->rate > 0) draws_masks_ = true;
    }
    in_use_.reset();
  }

  const TorchQueue& queue() const { return queue_; }
  const Model& model() const { return *model_; }

  StatusOr<PassResult> Train(const BatchView& batch, const PassOptions& options) {
    TRIBUTARY_CHECK(trains_);
    if (MayCapture(options)) return TrainCaptured(batch, options);
    const NotRecording lock = WhileNothingIsRecorded();
    const NodeIndex last = model_->graph.size() - 1;
    const at::Tensor scores = Run(batch.inputs, batch.labels.size(), options, last, Mode::kTrain);
    const at::Tensor labels = Labels(batch.labels).to(memory_.device());
    const at::Tensor loss = Loss(scores, labels, options.label_smoothing);
    const PassResult result = Summary(scores, labels, loss);
    GoBack(loss, {}, options.hooks, result.loss);
    return result;
  }

  StatusOr<PassResult> Evaluate(const BatchView& batch, const PassOptions& options) {
    const NotRecording lock = WhileNothingIsRecorded();
    const at::NoGradGuard no_gradients;
    const at::Tensor scores =
        Run(batch.inputs, batch.labels.size(), options, model_->graph.size() - 1, Mode::kEvaluate);
    const at::Tensor labels = Labels(batch.labels).to(memory_.device());
    return Summary(scores, labels, at::cross_entropy_loss(scores, labels));
  }

  StatusOr<std::span<const float>> Forward(std::span<const float> inputs, NodeIndex last,
                                           const PassOptions& options) {
    TRIBUTARY_CHECK(trains_);
    tape_end_ = Run(inputs, CountSamples(inputs, options.first), options, last, Mode::kTrain);
    return Expose(tape_end_);
  }

  StatusOr<std::span<const float>> Predict(std::span<const float> inputs, NodeIndex last,
                                           const PassOptions& options) {
    const at::NoGradGuard no_gradients;
    return Expose(Run(inputs, CountSamples(inputs, options.first), options, last, Mode::kEvaluate));
  }

  Status AddMoments(std::span<const float> inputs, std::span<double> sums, std::span<double> counts) {
    TRIBUTARY_CHECK(sums.size() == model_->statistics.size && counts.size() == sums.size());
    const at::NoGradGuard no_gradients;
    sums_ = sums;
    counts_ = counts;
    Run(inputs, CountSamples(inputs, 1), {}, model_->graph.size() - 1, Mode::kCalibrate);
    if (!held_) memory_.FetchStatistics();
    return OkStatus();
  }

  Status Backward(std::span<const float> output_gradient, const PassHooks& hooks) {
    TRIBUTARY_CHECK(tape_end_.defined());
    TRIBUTARY_CHECK(static_cast<std::int64_t>(output_gradient.size()) == tape_end_.numel());
    const at::Tensor gradient =
        at::from_blob(const_cast<float*>(output_gradient.data()), tape_end_.sizes(), at::kFloat);
    // The memory format of the output selects the same kernels, hence the same bits, as in an uncut pass.
    const at::MemoryFormat format = tape_end_.suggest_memory_format();
    GoBack(std::exchange(tape_end_, at::Tensor()), gradient.to(memory_.device()).contiguous(format), hooks,
           0);
    return OkStatus();
  }

  std::span<const float> input_gradient() const { return Span(input_gradient_); }

  Status Hold(const OptimiserOptions& optimiser, double prox, Optimiser* state) {
    TRIBUTARY_CHECK(trains_);
    const at::NoGradGuard no_gradients;
    memory_.BringAll();
    prox_ = prox;
    if (prox > 0) origin_ = memory_.parameters().clone();
    held_.emplace(optimiser, memory_, state);
    return OkStatus();
  }

  Status StepResident(double learning_rate) {
    TRIBUTARY_CHECK(held_.has_value());
    const at::NoGradGuard no_gradients;
    at::Tensor gradients = memory_.gradients();
    if (prox_ > 0) gradients.add_(memory_.parameters(), prox_).sub_(origin_, prox_);
    held_->Step(memory_.parameters(), gradients, learning_rate);
    return OkStatus();
  }

  Status Release() {
    TRIBUTARY_CHECK(held_.has_value());
    const at::NoGradGuard no_gradients;
    held_->Store();
    held_.reset();
    origin_ = at::Tensor();
    memory_.FetchParameters();
    memory_.FetchStatistics();
    return OkStatus();
  }

  bool elsewhere() const { return memory_.elsewhere(); }

 private:
  static constexpr std::int64_t kNoIgnoredLabel = -100;

  static std::span<const float> Span(const at::Tensor& tensor) {
    if (!tensor.defined()) return {};
    return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
  }

  std::span<const float> Expose(const at::Tensor& output) {
    exposed_ = output.detach().contiguous().cpu();
    return Span(exposed_);
  }

  static at::Tensor Labels(std::span<const std::int32_t> labels) {
    return at::from_blob(const_cast<std::int32_t*>(labels.data()), {static_cast<std::int64_t>(labels.size())},
                         at::kInt)
        .to(at::kLong);
  }

  static PassResult Summary(const at::Tensor& scores, const at::Tensor& labels, const at::Tensor& loss) {
    const at::NoGradGuard no_gradients;
    const at::Tensor correct = scores.argmax(1).eq(labels).sum();
    if (!loss.is_cuda()) return {loss.item<double>(), correct.item<std::int64_t>()};
    return ResultOf(LossAndCorrect(loss, correct));
  }

  static at::Tensor Loss(const at::Tensor& scores, const at::Tensor& labels, double smoothing) {
    return at::cross_entropy_loss(scores, labels, {}, at::Reduction::Mean, kNoIgnoredLabel, smoothing);
  }

  // In one tensor, so that one synchronisation fetches both.
  static at::Tensor LossAndCorrect(const at::Tensor& loss, const at::Tensor& correct) {
    return at::stack({loss.to(at::kDouble), correct.to(at::kDouble)});
  }
  static PassResult ResultOf(const at::Tensor& loss_and_correct) {
    const at::Tensor both = loss_and_correct.cpu();
    return {both[0].item<double>(), std::llround(both[1].item<double>())};
  }

  // A recorded training step with resident weights, which repeats for equal batch sizes.
  struct Captured {
    std::size_t samples = 0;
    double label_smoothing = 0;
    at::Tensor inputs, labels, result;  // fixed buffers of the recording
    int seen = 0;
    std::unique_ptr<CapturedPass> pass;
  };
  static constexpr std::size_t kMostCaptured = 4;
  static constexpr int kWarmUp = 3;  // passes in which libraries select algorithms

  bool MayCapture(const PassOptions& options) const {
    return held_ && memory_.elsewhere() && !draws_masks_ && options.first == 1 && !options.input_gradient &&
           !options.hooks.before_forward && !options.hooks.gradient_ready;
  }

  Captured* FindCaptured(std::size_t samples, double label_smoothing) {
    for (Captured& one : captured_) {
      if (one.samples == samples && one.label_smoothing == label_smoothing) return &one;
    }
    if (captured_.size() == kMostCaptured) captured_.erase(captured_.begin());
    const auto batch = static_cast<std::int64_t>(samples);
    const Shape& shape = model_->graph.shape(0);
    const auto placed = at::TensorOptions(memory_.device());
    captured_.push_back({samples, label_smoothing, at::empty(SizesOf(shape, batch), placed.dtype(at::kFloat)),
                         at::empty({batch}, placed.dtype(at::kLong)),
                         at::empty({2}, placed.dtype(at::kDouble)), 0, nullptr});
    return &captured_.back();
  }

  StatusOr<PassResult> TrainCaptured(const BatchView& batch, const PassOptions& options) {
    const std::size_t samples = batch.labels.size();
    TRIBUTARY_CHECK(samples > 0 && batch.inputs.size() ==
                                       samples * static_cast<std::size_t>(model_->graph.shape(0).elements()));
    Captured& one = *FindCaptured(samples, options.label_smoothing);
    one.inputs.copy_(at::from_blob(const_cast<float*>(batch.inputs.data()), one.inputs.sizes(), at::kFloat));
    one.labels.copy_(Labels(batch.labels));
    const auto pass = [&] {
      input_ = one.inputs;
      const at::Tensor scores = RunFrom(one.inputs, {}, model_->graph.size() - 1, Mode::kTrain);
      const at::Tensor loss = Loss(scores, one.labels, options.label_smoothing);
      {
        const at::NoGradGuard no_gradients;
        one.result.copy_(LossAndCorrect(loss, scores.argmax(1).eq(one.labels).sum()));
      }
      leaves_.BeginBackward(units_run_, {});
      loss.backward();
      leaves_.BeginBackward({}, {});
      input_ = at::Tensor();
    };
    if (one.pass == nullptr && one.seen == kWarmUp) {
      const Recording lock(MutexOfRecordings());
      one.pass = MakeCapturedPass();
      if (one.pass != nullptr) one.pass->Capture(pass);
    }
    if (one.pass != nullptr) {
      one.pass->Replay();
    } else {
      const NotRecording lock(MutexOfRecordings());
      pass();
      if (one.seen < kWarmUp) ++one.seen;
    }
    const PassResult result = ResultOf(one.result);
    if (options.hooks.forward_done) options.hooks.forward_done(result.loss);
    return result;
  }

  NotRecording WhileNothingIsRecorded() const {
    NotRecording lock(MutexOfRecordings(), std::defer_lock);
    if (memory_.elsewhere()) lock.lock();
    return lock;
  }

  static std::vector<std::int64_t> SizesOf(const Shape& shape, std::int64_t batch) {
    if (shape.flat) return {batch, shape.channels};
    return {batch, shape.channels, shape.height, shape.width};
  }

  std::size_t CountSamples(std::span<const float> inputs, NodeIndex first) const {
    const auto elements = static_cast<std::size_t>(model_->graph.shape(first - 1).elements());
    TRIBUTARY_CHECK(inputs.size() % elements == 0);
    return inputs.size() / elements;
  }

  // Wraps the caller's samples as a tensor, without a copy on the CPU.
  at::Tensor InputTensor(std::span<const float> inputs, std::size_t samples, NodeIndex first,
                         bool wants_gradient) {
    const Shape& shape = model_->graph.shape(first - 1);
    const auto batch = static_cast<std::int64_t>(samples);
    TRIBUTARY_CHECK(samples > 0 && static_cast<std::int64_t>(inputs.size()) == batch * shape.elements());
    at::Tensor tensor = at::from_blob(const_cast<float*>(inputs.data()), SizesOf(shape, batch), at::kFloat)
                            .to(memory_.device());
    if (wants_gradient) tensor.set_requires_grad(true);
    return tensor;
  }

  // Runs nodes options.first … last and returns the last one's output.
  at::Tensor Run(std::span<const float> inputs, std::size_t samples, const PassOptions& options,
                 NodeIndex last, Mode mode) {
    const NodeIndex first = options.first;
    TRIBUTARY_CHECK(first >= 1 && first <= last && last < model_->graph.size());
    TRIBUTARY_CHECK(first == 1 || model_->cuts[first - 1]);
    TRIBUTARY_CHECK(last + 1 == model_->graph.size() || model_->cuts[last]);
    exposed_ = at::Tensor();
    tape_end_ = at::Tensor();
    input_gradient_ = at::Tensor();
    input_ =
        InputTensor(inputs, samples, first, mode == Mode::kTrain && (first > 1 || options.input_gradient));
    return RunFrom(input_, options, last, mode);
  }

  at::Tensor RunFrom(const at::Tensor& input, const PassOptions& options, NodeIndex last, Mode mode) {
    const Graph& graph = model_->graph;
    const NodeIndex first = options.first;
    units_run_.assign(model_->units.size(), false);

    std::vector<at::Tensor> values(graph.size());
    values[first - 1] =
        channels_last_ && input.dim() == 4 ? input.contiguous(at::MemoryFormat::ChannelsLast) : input;
    std::vector<at::Tensor> node_inputs;
    for (NodeIndex i = first; i <= last; ++i) {
      const Node& node = graph.node(i);
      if (const auto unit = first_node_of_unit_[i]) {
        if (options.hooks.before_forward && !options.hooks.before_forward(*unit)) throw GivenUp{};
      }
      // Also if the pass begins inside the unit.
      if (const auto unit = unit_of_node_[i]; unit && !units_run_[*unit]) {
        units_run_[*unit] = true;
        if (!held_) memory_.BringUnit(*unit);
      }
      node_inputs.clear();
      for (const NodeIndex source : node.inputs) node_inputs.push_back(values[source]);
      if (mode == Mode::kCalibrate) NoteMoments(i, node_inputs[0]);
      // The pass's input is the caller's memory.
      const bool in_place = may_overwrite_input_[i] && node.inputs[0] >= first;
      const bool learns = mode != Mode::kEvaluate && !model_->frozen[i];
      values[i] = Apply(node.operation, node_inputs, leaves_.node(i),
                        {learns, mode == Mode::kTrain, in_place, options.rng});
      for (const NodeIndex source : node.inputs) {
        if (graph.last_use(source) == i) values[source] = at::Tensor();
      }
    }
    return values[last];
  }

  // Accumulates the moments of a batch norm's input.
  void NoteMoments(NodeIndex node, const at::Tensor& input) {
    if (!IsAnyOf<BatchNorm>(model_->graph.node(node))) return;
    const std::vector<std::int64_t> others =
        input.dim() == 4 ? std::vector<std::int64_t>{0, 2, 3} : std::vector<std::int64_t>{0};
    for (const Layout::Slot& slot : model_->statistics.slots) {
      if (slot.node != node) continue;
      const bool mean = slot.tensor.role == NodeTensor::Role::kRunningMean;
      const at::Tensor sum =
          (mean ? input : input * input).sum(others, /*keepdim=*/false, at::kDouble).contiguous().cpu();
      const auto* values = sum.data_ptr<double>();
      for (std::size_t i = 0; i < slot.segment.count; ++i) {
        sums_[slot.segment.offset + i] += values[i];
        counts_[slot.segment.offset + i] += static_cast<double>(input.numel() / input.size(1));
      }
    }
  }

  void GoBack(const at::Tensor& end, const at::Tensor& gradient, const PassHooks& hooks, double loss) {
    if (hooks.forward_done) hooks.forward_done(loss);
    if (memory_.elsewhere() && !held_) {
      std::vector<bool> fetched(units_run_.size(), false);
      leaves_.BeginBackward(units_run_, [&](std::size_t unit) {
        memory_.FetchGradient(unit);
        fetched[unit] = true;
        if (hooks.gradient_ready) hooks.gradient_ready(unit);
      });
      if (end.requires_grad()) end.backward(gradient);
      for (std::size_t unit = 0; unit < fetched.size(); ++unit) {
        if (units_run_[unit] && !fetched[unit]) memory_.FetchGradient(unit);
      }
      memory_.FetchStatistics();
    } else {
      leaves_.BeginBackward(units_run_, hooks.gradient_ready);
      if (end.requires_grad()) end.backward(gradient);  // False if no earlier node has parameters.
    }
    leaves_.BeginBackward({}, {});
    if (input_.requires_grad()) input_gradient_ = input_.grad().contiguous().cpu();
    input_ = at::Tensor();
  }

  const TorchQueue queue_;
  std::optional<TorchQueue::InUse> in_use_;  // during construction
  std::shared_ptr<const Model> model_;
  bool channels_last_;
  PlacedMemory memory_;
  Leaves leaves_;
  bool trains_;
  std::vector<bool> may_overwrite_input_;
  std::vector<std::optional<std::size_t>> first_node_of_unit_, unit_of_node_;

  // State of the last pass.
  std::vector<bool> units_run_;
  at::Tensor input_, tape_end_, exposed_, input_gradient_;
  std::span<double> sums_, counts_;  // while calibrating

  // State between Hold and Release.
  std::optional<ResidentOptimiser> held_;
  double prox_ = 0;
  at::Tensor origin_;
  bool draws_masks_ = false;  // masks of dropout nodes are drawn on the CPU
  std::vector<Captured> captured_;
};

Executor::Executor(std::shared_ptr<const Model> model, NetworkMemory memory, ExecutorOptions options)
    : torch_(std::make_unique<Torch>(std::move(model), memory, options)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

StatusOr<PassResult> Executor::Train(const BatchView& batch, const PassOptions& options) {
  return Guarded(torch_->queue(), [&] { return torch_->Train(batch, options); });
}
StatusOr<PassResult> Executor::Evaluate(const BatchView& batch, const PassOptions& options) {
  return Guarded(torch_->queue(), [&] { return torch_->Evaluate(batch, options); });
}
StatusOr<std::span<const float>> Executor::Forward(std::span<const float> inputs, NodeIndex last,
                                                   const PassOptions& options) {
  return Guarded(torch_->queue(), [&] { return torch_->Forward(inputs, last, options); });
}
StatusOr<std::span<const float>> Executor::Predict(std::span<const float> inputs, NodeIndex last,
                                                   const PassOptions& options) {
  return Guarded(torch_->queue(), [&] { return torch_->Predict(inputs, last, options); });
}
Status Executor::AddMoments(std::span<const float> inputs, std::span<double> sums, std::span<double> counts) {
  return Guarded(torch_->queue(), [&] { return torch_->AddMoments(inputs, sums, counts); });
}
Status Executor::Backward(std::span<const float> output_gradient, const PassHooks& hooks) {
  return Guarded(torch_->queue(), [&] { return torch_->Backward(output_gradient, hooks); });
}
Status Executor::Hold(const OptimiserOptions& optimiser, double prox, Optimiser* state) {
  return Guarded(torch_->queue(), [&] { return torch_->Hold(optimiser, prox, state); });
}
Status Executor::StepResident(double learning_rate) {
  return Guarded(torch_->queue(), [&] { return torch_->StepResident(learning_rate); });
}
Status Executor::Release() {
  return Guarded(torch_->queue(), [&] { return torch_->Release(); });
}
bool Executor::elsewhere() const { return torch_->elsewhere(); }
std::span<const float> Executor::input_gradient() const { return torch_->input_gradient(); }
const Model& Executor::model() const { return torch_->model(); }

}  // namespace tributary::inline engine
