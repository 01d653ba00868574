#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "tributary/base/distributions.h"
#include "tributary/coordinator/parallel_split_server.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/device/setting.h"
#include "tributary/device/worker.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/update_journal.h"
#include "tributary/model/initialise.h"
#include "tributary/policy/aggregation/mean.h"

// A step of a cut network, and the same step in one place.
namespace tributary::testing {

inline constexpr int kClasses = 10;
inline constexpr Shape kImages{3, 32, 32};

inline double Norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

// Relative to the second.
inline double Distance(std::span<const float> a, std::span<const float> b) {
  std::vector<float> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return Norm(difference) / std::max(1e-30, Norm(b));
}

inline Experiment ExperimentOf(const std::string& model, const std::string& cut,
                               std::optional<std::string> tail = {}) {
  Experiment experiment;
  experiment.model.name = model;
  experiment.train.method = Method::kSplit;
  experiment.split.cut = cut;
  experiment.split.tail = std::move(tail);
  return experiment;
}

inline std::vector<std::string> SplitPointsOf(const std::string& name) {
  const Model model(*BuildZooGraph({name, kImages, kClasses}));
  std::vector<std::string> cuts;
  for (NodeIndex node = 0; node < model.graph.size(); ++node) {
    if (model.cuts[node]) cuts.push_back(model.graph.node(node).name);
  }
  return cuts;
}

// Which elements dropout zeroes is each device's own chance, and cannot be the same in one place.
inline std::shared_ptr<const Model> WithoutDropout(const Graph& graph) {
  GraphBuilder builder(graph.name(), graph.input_shape());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const bool drops = std::holds_alternative<Dropout>(node.operation);
    builder.Add(node.name, drops ? Operation(Dropout{0}) : node.operation, node.inputs);
  }
  return std::make_shared<const Model>(*std::move(builder).Build());
}

// Random images with random labels, divided among devices as `sizes` says.
struct Batches {
  explicit Batches(std::vector<std::size_t> sizes) : sizes(std::move(sizes)) {
    Rng rng(7);
    for (const std::size_t size : this->sizes) samples += size;
    inputs.resize(samples * static_cast<std::size_t>(kImages.elements()));
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
    for (std::size_t i = 0; i < samples; ++i)
      labels.push_back(static_cast<std::int32_t>(rng.Below(kClasses)));
  }
  Batch Of(std::size_t device) const { return Of(std::vector{device}); }
  // Of several, one after the other.
  Batch Of(const std::vector<std::size_t>& devices) const {
    const auto each = static_cast<std::size_t>(kImages.elements());
    Batch batch;
    for (const std::size_t device : devices) {
      std::size_t begin = 0;
      for (std::size_t i = 0; i < device; ++i) begin += sizes[i];
      const auto images = std::span(inputs).subspan(begin * each, sizes[device] * each);
      const auto classes = std::span(labels).subspan(begin, sizes[device]);
      batch.inputs.insert(batch.inputs.end(), images.begin(), images.end());
      batch.labels.insert(batch.labels.end(), classes.begin(), classes.end());
    }
    return batch;
  }
  std::vector<std::size_t> sizes;
  std::size_t samples = 0;
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
};

struct Step {
  double loss = 0;
  std::vector<float> gradient;
  std::vector<float> statistics;
  std::map<std::size_t, std::string> refused;  // devices, and why
};

// Who comes to the cut, and what becomes of them.
struct Visit {
  std::vector<std::size_t> order;  // those not in it do not come
  std::vector<std::size_t> gone;   // do not come back: sent what crosses first, and then never heard of again
  bool twice = false;              // everyone sends everything again, as if it had not arrived
  // Changes what a device sends.
  std::function<void(std::size_t device, int crossing, std::vector<float>& values)> spoil;
};

class SplitFixture : public ::testing::Test {
 protected:
  SplitFixture() { SetComputeThreads(1); }

  void Use(const Experiment& experiment) {
    Use(experiment, (*BuildNetwork(experiment.model.name, experiment, kImages, kClasses))->graph);
  }
  void Use(const Experiment& experiment, const Graph& network) {
    experiment_ = experiment;
    whole_ = WithoutDropout(network);
    parameters_ = FlatBuffer(whole_->parameters.size);
    statistics_ = FlatBuffer(whole_->statistics.size);
    InitialiseWeights(*whole_, 3, parameters_.span(), statistics_.span());
    // Biases and shifts too: at zero they would hide what they do.
    Rng rng(5);
    for (const Layout::Slot& slot : whole_->parameters.slots) {
      for (std::size_t i = slot.segment.offset; i < slot.segment.end(); ++i) {
        parameters_.data()[i] += 0.02F * static_cast<float>(Normal(rng));
      }
    }
  }

  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }

  static WorkOrder RequestOf(const Batches& batches) {
    WorkOrder request;
    for (std::size_t i = 0; i < batches.sizes.size(); ++i) request.participants.push_back(DeviceId{i});
    request.batches = batches.sizes;
    request.round = RoundId{1};
    return request;
  }

  // In one place.
  Step Central(const Batches& batches) const { return Central(Batch{batches.inputs, batches.labels}); }
  Step Central(const Batch& batch, double label_smoothing = 0) const {
    FlatBuffer parameters(parameters_.size()), statistics(statistics_.size()), gradients(parameters_.size());
    std::ranges::copy(parameters_.span(), parameters.data());
    std::ranges::copy(statistics_.span(), statistics.data());
    Executor executor(whole_, {parameters.span(), statistics.span(), gradients.span()});
    Rng rng(1);
    const auto pass =
        executor.Train({batch.inputs, batch.labels}, {.label_smoothing = label_smoothing, .rng = &rng});
    EXPECT_TRUE(pass.ok());
    return {pass->loss,
            {gradients.data(), gradients.data() + gradients.size()},
            {statistics.data(), statistics.data() + statistics.size()},
            {}};
  }

  // By devices that come to the cut.
  Step Cut(const Batches& batches, const Visit& visit) {
    ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0);
    return Cut(rest, batches, visit);
  }
  Step Cut(ParallelSplitServer& rest, const Batches& batches, const Visit& visit) {
    const SplitSetup setup = SetupOf(experiment_, rest.network(), rest);
    const WorkOrder request = RequestOf(batches);
    UpdateJournal journal("/tmp");
    MeanAggregator aggregate(*whole_, journal);
    aggregate.Begin(static_cast<double>(batches.samples));
    ClientPartSink sink(setup.parameters, setup.statistics);
    sink.set_whole(aggregate);
    rest.Begin(request, {{}, weights(), aggregate});

    FlatBuffer held(setup.parameters.size());
    for (std::size_t i = 0; i < held.size(); ++i)
      held.data()[i] = parameters_.data()[setup.parameters.InWhole(i)];
    Worker worker(rest.network().held);
    const LocalData none;
    const int crossings = rest.network().wire.crossings();
    const int runs = rest.waits() ? crossings + 1 : 1;
    Step step;
    double learnt = 0;  // samples
    for (int run = 0; run < runs; ++run) {
      for (const std::size_t device : visit.order) {
        if (step.refused.contains(device)) continue;
        TrainHooks hooks;
        hooks.samples = static_cast<std::int64_t>(batches.sizes[device]);
        hooks.read = [&](std::uint64_t, Batch& batch) { batch = batches.Of(device); };
        hooks.cut = rest.network().cut;
        hooks.cross = [&](const SplitBatch& batch) -> StatusOr<SplitReply> {
          const bool leaves =
              batch.crossing + 1 == crossings && std::ranges::find(visit.gone, device) != visit.gone.end();
          if (leaves && batch.crossing > 0) return Cancelled("gone before it answers the second time");
          std::vector<float> values(batch.values.begin(), batch.values.end());
          if (visit.spoil) visit.spoil(device, batch.crossing, values);
          for (int time = 0; time < (visit.twice ? 2 : 1); ++time) {
            if (rest.Reply(device, batch.crossing) != nullptr && !visit.twice) break;
            TRIBUTARY_RETURN_IF_ERROR(rest.Take(device, {batch.crossing, values, batch.labels}));
          }
          const SplitReply* reply = rest.Reply(device, batch.crossing);
          if (reply == nullptr || leaves) return Cancelled("waits");
          return *reply;
        };
        const auto trained = worker.Train({.answer = TrainAssignment::Answer::kGradient}, {held.span(), {}},
                                          DeviceId{device}, none, hooks);
        if (trained.status().code() == StatusCode::kCancelled) continue;
        if (!trained.ok()) {
          step.refused[device] = trained.status().message();
          continue;
        }
        EXPECT_TRUE(sink.Take(WorkOf(DeviceId{device}), trained->update.pieces()).ok());
        step.loss += trained->metrics.loss * static_cast<double>(batches.sizes[device]);
        learnt += static_cast<double>(batches.sizes[device]);
      }
      if (run + 1 == runs) break;
      const Status closed = rest.Close(run);
      for (const std::size_t device : visit.order) {
        const bool left = run + 1 == crossings && std::ranges::find(visit.gone, device) != visit.gone.end();
        if (rest.Reply(device, run) != nullptr || left || step.refused.contains(device)) continue;
        step.refused[device] = closed.ok() ? "left out" : closed.message();
      }
    }
    step.loss /= learnt;
    step.gradient.resize(parameters_.size());
    step.statistics.resize(statistics_.size());
    EXPECT_TRUE(aggregate.Report(UpdatePart::kParameters, 0, step.gradient).ok());
    EXPECT_TRUE(aggregate.Report(UpdatePart::kStatistics, 0, step.statistics).ok());
    return step;
  }

  static void ExpectSame(const Step& split, const Step& central, const std::string& where) {
    constexpr double kTolerance = 1e-5;
    EXPECT_TRUE(split.refused.empty()) << where << ": " << split.refused.begin()->second;
    EXPECT_NEAR(split.loss, central.loss, kTolerance * std::abs(central.loss)) << where;
    EXPECT_LE(Distance(split.gradient, central.gradient), kTolerance) << where;
    EXPECT_LE(Distance(split.statistics, central.statistics), kTolerance) << where;
  }

  Experiment experiment_;
  std::shared_ptr<const Model> whole_;
  FlatBuffer parameters_, statistics_;
};

}  // namespace tributary::testing
