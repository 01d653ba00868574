#include "tributary/device/worker.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/device/evaluation.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline device {
namespace {

template <typename Value>
std::span<Value> Part(std::span<Value> all, const Segment& segment) {
  return all.subspan(segment.offset, segment.count);
}

// Keeps a gradient's padding zero, since that of both weights is.
void AddProximalTerm(double prox, std::span<const float> weights, std::span<const float> origin,
                     std::span<float> gradients) {
  const auto factor = static_cast<float>(prox);
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] += factor * (weights[i] - origin[i]);
}

}  // namespace

Worker::Worker(std::shared_ptr<const Model> model, ExecutorOptions options)
    : model_(std::move(model)),
      options_(options),
      gradients_(model_->parameters.size),
      statistics_(model_->statistics.size) {}

void Worker::MakeExecutor(std::optional<Executor>& executor, std::span<const float> parameters) {
  // The executor requires writable memory, but a pass only reads parameters.
  const std::span<float> writable(const_cast<float*>(parameters.data()), parameters.size());
  executor.emplace(model_, NetworkMemory{writable, statistics_.span(), gradients_.span()}, options_);
}

Executor& Worker::OnShared(const SharedWeights& weights) {
  if (!on_shared_ || shared_at_ != weights.parameters.data()) {
    MakeExecutor(on_shared_, weights.parameters);
    tail_.reset();
    shared_at_ = weights.parameters.data();
  }
  return *on_shared_;
}

Executor& Worker::TailOnShared(const SharedWeights& weights) {
  if (!tail_) MakeExecutor(tail_, weights.parameters);
  return *tail_;
}

Executor& Worker::OnSharedWithStatistics(const SharedWeights& weights) {
  std::ranges::copy(weights.statistics, statistics_.data());
  return OnShared(weights);
}

Executor& Worker::OnCopy() {
  if (!on_copy_) {
    copy_ = FlatBuffer(model_->parameters.size);
    MakeExecutor(on_copy_, copy_.span());
  }
  return *on_copy_;
}

SubnetworkSteps& Worker::SubnetworkStepsFor(FilterScaling scaling) {
  if (!subnetwork_ || subnetwork_->scaling() != scaling) subnetwork_.emplace(model_, scaling, options_);
  return *subnetwork_;
}

// One assignment, pass by pass. The first pass places weights unit by unit; in the last pass each unit's part
// of the update is made as soon as its gradient is ready. Results are bit-identical to doing all units at
// once, since the arithmetic is element-wise.
class Worker::Training {
 public:
  Training(Worker& worker, const TrainAssignment& assignment, const SharedWeights& weights, DeviceId device,
           const LocalData& data, const TrainHooks& hooks)
      : worker_(worker),
        assignment_(assignment),
        weights_(weights),
        device_(device),
        data_(data),
        hooks_(hooks),
        changes_(assignment.answer != TrainAssignment::Answer::kGradient),
        executor_(changes_ ? worker.OnCopy() : worker.OnShared(weights)),
        subnetwork_(hooks.keep ? &worker.SubnetworkStepsFor(hooks.scaling) : nullptr) {
    finished_.assign(worker.model_->units.size(), false);
    if (hooks.clock != nullptr) stopwatch_.emplace(worker.model_->units.size(), *hooks.clock);
    update_ = {changes_ ? worker.copy_.span() : worker.gradients_.span(), worker.statistics_.span(),
               static_cast<double>(hooks.read ? hooks.samples : SamplesOf(assignment, data).all)};
  }

  StatusOr<Trained> Run() {
    optimiser_ = hooks_.optimiser;
    if (changes_ && optimiser_ == nullptr) {
      TRIBUTARY_ASSIGN_OR_RETURN(worker_.optimiser_,
                                 MakeOptimiser(assignment_.optimiser, worker_.copy_.size()));
      optimiser_ = worker_.optimiser_.get();
    }
    // If passes run on another device, weights stay there for all steps of the assignment.
    held_ = changes_ && executor_.elsewhere() && subnetwork_ == nullptr && !hooks_.cross;
    Trained trained{.update = update_};
    const StepRange steps =
        hooks_.read || assignment_.first
            ? StepRange{(assignment_.round.value - 1) * static_cast<std::uint64_t>(assignment_.steps),
                        static_cast<std::uint64_t>(assignment_.steps)}
            : StepsOf(assignment_, data_);
    if (steps.count == 0) return InvalidArgument("a training assignment without steps");
    TrainingMetrics& metrics = trained.metrics;
    if (held_) TRIBUTARY_RETURN_IF_ERROR(HoldWeights());
    for (std::uint64_t i = 0; i < steps.count; ++i) {
      if (hooks_.should_stop && hooks_.should_stop()) return Cancelled("stopped between two steps");
      last_ = i + 1 == steps.count;
      if (hooks_.read) hooks_.read(i, worker_.batch_);
      TRIBUTARY_ASSIGN_OR_RETURN(const PassResult pass, Pass(steps.first, i));
      if (!last_ && !held_) TRIBUTARY_RETURN_IF_ERROR(StepAll());
      const auto samples = static_cast<std::int64_t>(worker_.batch_.labels.size());
      metrics.samples += samples;
      metrics.loss += pass.loss * static_cast<double>(samples);
      metrics.correct += pass.correct;
    }
    if (held_) TRIBUTARY_RETURN_IF_ERROR(ReleaseWeights());
    metrics.loss /= static_cast<double>(std::max<std::int64_t>(1, metrics.samples));
    if (stopwatch_) trained.times = {stopwatch_->times(), between_};
    return trained;
  }

 private:
  // The pass of the i-th step; `first_step` is the number of the first step in the whole run.
  StatusOr<PassResult> Pass(std::uint64_t first_step, std::uint64_t i) {
    const std::uint64_t step = first_step + i;
    const bool first = i == 0;
    if (assignment_.first) {
      ReplayOrder order(data_.training.size(), assignment_.seed, device_);
      const BatchKey key{assignment_.seed, device_, static_cast<std::uint64_t>(*assignment_.first)};
      ReadStream(data_, order, *assignment_.first, assignment_.batch, key, assignment_.augment,
                 worker_.batch_);
    } else if (!hooks_.read) {
      ReadBatch(data_, assignment_.batch, {assignment_.seed, device_, step}, assignment_.augment,
                worker_.batch_);
    }
    if (hooks_.spoil) hooks_.spoil(worker_.batch_);
    Rng dropout = Rng::ForStream(assignment_.seed, device_, "dropout", step);
    PassOptions options;
    options.label_smoothing = assignment_.label_smoothing;
    options.rng = &dropout;
    Executor& executor = subnetwork_ != nullptr ? subnetwork_->Begin(hooks_.keep(i)) : executor_;
    if (first && stopwatch_) stopwatch_->Begin();
    if ((first && !held_) || subnetwork_ != nullptr) {
      options.hooks.before_forward = [this, first](std::size_t unit) {
        if (first && !Place(unit)) return false;
        if (subnetwork_ != nullptr) subnetwork_->Place(unit, mine(), worker_.statistics_.span());
        return true;
      };
    }
    options.hooks.forward_done = [this, first](double loss) { ForwardDone(loss, first); };
    if (last_ && !held_) options.hooks.gradient_ready = [this](std::size_t unit) { Finish(unit); };
    TRIBUTARY_ASSIGN_OR_RETURN(const PassResult result,
                               hooks_.cross
                                   ? SplitPass(options, i)
                                   : executor.Train({worker_.batch_.inputs, worker_.batch_.labels}, options));
    TRIBUTARY_RETURN_IF_ERROR(update_status_);
    if (!std::isfinite(result.loss)) {
      return InvalidArgument("the loss of device " + std::to_string(device_.value) +
                             " is not finite at step " + std::to_string(step) +
                             "; use a lower learning rate");
    }
    if (held_) {
      TRIBUTARY_RETURN_IF_ERROR(executor_.StepResident(assignment_.learning_rate));
    } else if (last_) {
      // A unit without a backward pass is not announced: its gradient is zero.
      for (std::size_t unit = 0; unit < finished_.size(); ++unit) {
        if (!finished_[unit]) Finish(unit);
      }
    }
    return result;
  }

  Status HoldWeights() {
    for (std::size_t unit = 0; unit < finished_.size(); ++unit) {
      if (!Place(unit)) return Cancelled("the pass was given up");
    }
    return executor_.Hold(assignment_.optimiser, assignment_.prox, optimiser_);
  }

  // All units become ready at once, last layers first.
  Status ReleaseWeights() {
    TRIBUTARY_RETURN_IF_ERROR(executor_.Release());
    for (std::size_t unit = finished_.size(); unit-- > 0;) {
      AnswerWithChange(worker_.model_->parameters.units[unit]);
      if (stopwatch_) stopwatch_->GradientReady(unit);
      if (hooks_.ready) hooks_.ready(update_, unit);
    }
    return OkStatus();
  }

  // For answers with changes: subtracts the initial weights.
  void AnswerWithChange(const Segment& segment) {
    if (assignment_.answer != TrainAssignment::Answer::kChange) return;
    const std::span<float> mine = Part(worker_.copy_.span(), segment);
    const auto origin = Part(weights_.parameters, segment);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] -= origin[i];
  }

  // A pass whose middle, or everything after the front, runs on the coordinator.
  StatusOr<PassResult> SplitPass(PassOptions options, std::uint64_t i) {
    const Batch& batch = worker_.batch_;
    const bool tail = hooks_.cut + 1 < worker_.model_->graph.size();
    const auto crossing = static_cast<int>(i) * (tail ? 2 : 1);
    TRIBUTARY_ASSIGN_OR_RETURN(const auto values, executor_.Forward(batch.inputs, hooks_.cut, options));
    if (stopwatch_ && i == 0) stopwatch_->ForwardDone();
    const std::span<const std::int32_t> labels = batch.labels;
    const std::size_t given = values.size();
    const TimePoint left = hooks_.clock != nullptr ? hooks_.clock->Now() : TimePoint(0);
    TRIBUTARY_ASSIGN_OR_RETURN(SplitReply reply,
                               hooks_.cross({crossing, values, tail ? labels.first(0) : labels}));
    if (hooks_.clock != nullptr && i > 0) elsewhere_ += hooks_.clock->Now() - left;
    PassResult result{reply.loss, reply.correct};
    if (tail) {
      Executor& executor = worker_.TailOnShared(weights_);
      PassOptions behind = options;
      behind.first = hooks_.cut + 2;
      const auto each = static_cast<std::size_t>(worker_.model_->graph.shape(hooks_.cut + 1).elements());
      TRIBUTARY_RETURN_IF_ERROR(CheckReply(reply, labels.size() * each));
      TRIBUTARY_ASSIGN_OR_RETURN(result, executor.Train({reply.values, labels}, behind));
      TRIBUTARY_ASSIGN_OR_RETURN(reply, hooks_.cross({crossing + 1, executor.input_gradient(), {}}));
    }
    TRIBUTARY_RETURN_IF_ERROR(CheckReply(reply, given));
    TRIBUTARY_RETURN_IF_ERROR(executor_.Backward(reply.values, options.hooks));
    return result;
  }

  static Status CheckReply(const SplitReply& reply, std::size_t values) {
    if (reply.values.size() == values) return OkStatus();
    return InvalidArgument("the reply over the cut has " + std::to_string(reply.values.size()) +
                           " values, expected " + std::to_string(values));
  }

  bool Place(std::size_t unit) {
    if (stopwatch_) stopwatch_->BeforeForward(unit);
    if (hooks_.await && !hooks_.await(unit)) return false;
    if (stopwatch_) stopwatch_->Go();
    const Segment& statistics = worker_.model_->statistics.units[unit];
    std::ranges::copy(Part(weights_.statistics, statistics),
                      Part(worker_.statistics_.span(), statistics).begin());
    if (changes_) {
      const Segment& parameters = worker_.model_->parameters.units[unit];
      std::ranges::copy(Part(weights_.parameters, parameters),
                        Part(worker_.copy_.span(), parameters).begin());
    }
    return true;
  }

  void ForwardDone(double loss, bool first) {
    if (stopwatch_ && first) {
      if (!hooks_.cross) stopwatch_->ForwardDone();
      forward_done_ = hooks_.clock->Now();
    }
    sound_ = std::isfinite(loss);
    if (subnetwork_ != nullptr) subnetwork_->PutStatistics(worker_.statistics_.span());
    if (!last_) return;
    if (changes_ && !held_) BeginUpdate();
    if (stopwatch_) {
      between_ = hooks_.clock->Now() - forward_done_ - elsewhere_;
      stopwatch_->Go();
    }
  }

  void Finish(std::size_t unit) {
    finished_[unit] = true;
    const Segment& segment = worker_.model_->parameters.units[unit];
    if (changes_ && sound_ && update_status_.ok()) {
      const std::span<float> mine = Part(worker_.copy_.span(), segment);
      const auto origin = Part(weights_.parameters, segment);
      if (subnetwork_ != nullptr) {
        UpdateSubnetwork(unit);
      } else {
        const std::span<float> gradients = Part(worker_.gradients_.span(), segment);
        if (assignment_.prox > 0) AddProximalTerm(assignment_.prox, mine, origin, gradients);
        optimiser_->StepRange(segment.offset, mine, gradients);
      }
      AnswerWithChange(segment);
    } else if (!changes_ && subnetwork_ != nullptr) {
      subnetwork_->PutGradient(unit, worker_.gradients_.span());
    }
    if (stopwatch_) stopwatch_->GradientReady(unit);
    if (sound_ && update_status_.ok() && hooks_.ready) hooks_.ready(update_, unit);
  }

  // The weights that passes read, of the whole network.
  std::span<const float> mine() const { return changes_ ? worker_.copy_.span() : weights_.parameters; }

  void BeginUpdate() {
    if (subnetwork_ == nullptr) {
      optimiser_->BeginStep(assignment_.learning_rate);
    } else {
      update_status_ =
          subnetwork_->BeginUpdate(assignment_.optimiser, *optimiser_, assignment_.learning_rate);
    }
  }

  void UpdateSubnetwork(std::size_t unit) {
    subnetwork_->Update(unit, *optimiser_, assignment_.prox, weights_.parameters, worker_.copy_.span());
  }

  Status StepAll() {
    if (subnetwork_ != nullptr) {
      BeginUpdate();
      TRIBUTARY_RETURN_IF_ERROR(update_status_);
      for (std::size_t unit = 0; unit < worker_.model_->units.size(); ++unit) UpdateSubnetwork(unit);
      return OkStatus();
    }
    const std::span<float> mine = worker_.copy_.span();
    const std::span<float> gradients = worker_.gradients_.span();
    if (assignment_.prox > 0) AddProximalTerm(assignment_.prox, mine, weights_.parameters, gradients);
    optimiser_->Step(mine, gradients, assignment_.learning_rate);
    return OkStatus();
  }

  Worker& worker_;
  const TrainAssignment& assignment_;
  const SharedWeights& weights_;
  const DeviceId device_;
  const LocalData& data_;
  const TrainHooks& hooks_;
  const bool changes_;  // does local steps; otherwise answers with a gradient
  Executor& executor_;
  Optimiser* optimiser_ = nullptr;     // of local steps
  SubnetworkSteps* const subnetwork_;  // for training some channels
  Status update_status_;               // of computing the update
  std::optional<LayerStopwatch> stopwatch_;
  Update update_;
  bool last_ = false;           // last pass of the assignment
  bool held_ = false;           // weights stay on the other device
  bool sound_ = false;          // the loss is finite
  std::vector<bool> finished_;  // units, in the last pass
  TimePoint forward_done_{0};
  Duration between_{0};
  Duration elsewhere_{0};  // part of between_ spent over the cut
};

StatusOr<Worker::Trained> Worker::Train(const TrainAssignment& assignment, const SharedWeights& weights,
                                        DeviceId device, const LocalData& data, const TrainHooks& hooks) {
  TRIBUTARY_CHECK(weights.parameters.size() == model_->parameters.size &&
                  weights.statistics.size() == model_->statistics.size);
  if (assignment.first && assignment.batch > data.training.size() && !hooks.read) {
    return InvalidArgument("an assignment asks for " + std::to_string(assignment.batch) +
                           " samples where the device has " + std::to_string(data.training.size()));
  }
  TRIBUTARY_CHECK(!hooks.cross || !hooks.keep);
  if (hooks.cross && assignment.answer != TrainAssignment::Answer::kGradient &&
      hooks.cut + 1 < model_->graph.size()) {
    return InvalidArgument("an assignment asks for local steps of a split model with a tail");
  }
  if (data.training.empty() && !hooks.read)
    return InvalidArgument("device " + std::to_string(device.value) + " has no training samples");
  return Training(*this, assignment, weights, device, data, hooks).Run();
}

StatusOr<EvaluationTotals> Worker::Evaluate(const EvaluateAssignment&, const SharedWeights& weights,
                                            const LocalData& data) {
  Executor& executor = OnSharedWithStatistics(weights);
  TRIBUTARY_ASSIGN_OR_RETURN(const Evaluation result,
                             tributary::Evaluate(executor, *data.dataset, data.held_out));
  return EvaluationTotals{static_cast<std::int64_t>(result.samples),
                          result.loss * static_cast<double>(result.samples),
                          std::llround(result.accuracy * static_cast<double>(result.samples))};
}

StatusOr<Moments> Worker::Calibrate(const CalibrateAssignment& assignment, const SharedWeights& weights,
                                    DeviceId device, const LocalData& data) {
  Moments moments(model_->statistics.size);
  if (data.training.empty()) return moments;
  Executor& executor = OnSharedWithStatistics(weights);
  for (int i = 0; i < assignment.steps; ++i) {
    const auto steps = static_cast<std::uint64_t>(assignment.steps);
    const std::uint64_t step = (assignment.round.value - 1) * steps + static_cast<std::uint64_t>(i);
    ReadBatch(data, assignment.batch, {assignment.seed, device, step}, {}, batch_);
    TRIBUTARY_RETURN_IF_ERROR(executor.AddMoments(batch_.inputs, moments.sums, moments.counts));
  }
  return moments;
}

}  // namespace tributary::inline device
