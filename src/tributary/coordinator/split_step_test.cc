// A split step is the centralised step of the same network: loss, gradients and running statistics, wherever it is cut.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/coordinator/rest_of_network.h"
#include "tributary/coordinator/round_aggregate.h"
#include "tributary/device/setting.h"
#include "tributary/device/worker.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"

namespace tributary {
namespace {

constexpr double kTolerance = 1e-5;
constexpr int kClasses = 10;
constexpr Shape kImages{3, 32, 32};

double Norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

double Distance(std::span<const float> a, std::span<const float> b) {
  std::vector<float> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return Norm(difference) / std::max(1e-30, Norm(b));
}

Experiment ExperimentOf(const std::string& model, const std::string& cut, std::optional<std::string> tail = {}) {
  Experiment experiment;
  experiment.model.name = model;
  experiment.train.method = Method::kSplit;
  experiment.split.cut = cut;
  experiment.split.tail = std::move(tail);
  return experiment;
}

// Which elements dropout zeroes is each device's own chance, and cannot be the same in one place.
std::shared_ptr<const Model> WithoutDropout(const Graph& graph) {
  GraphBuilder builder(graph.name(), graph.input_shape());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const bool drops = std::holds_alternative<Dropout>(node.operation);
    builder.Add(node.name, drops ? Operation(Dropout{0}) : node.operation, node.inputs);
  }
  return std::make_shared<const Model>(*std::move(builder).Build());
}

// Random images with random labels, divided among devices as `batches` says.
struct Batches {
  explicit Batches(std::vector<std::size_t> sizes) : sizes(std::move(sizes)) {
    Rng rng(7);
    for (const std::size_t size : this->sizes) samples += size;
    inputs.resize(samples * static_cast<std::size_t>(kImages.elements()));
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
    for (std::size_t i = 0; i < samples; ++i) labels.push_back(static_cast<std::int32_t>(rng.Below(kClasses)));
  }
  Batch Of(std::size_t device) const {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < device; ++i) begin += sizes[i];
    const auto each = static_cast<std::size_t>(kImages.elements());
    const auto images = std::span(inputs).subspan(begin * each, sizes[device] * each);
    const auto classes = std::span(labels).subspan(begin, sizes[device]);
    Batch batch;
    batch.inputs.assign(images.begin(), images.end());
    batch.labels.assign(classes.begin(), classes.end());
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
};

class SplitStep : public ::testing::Test {
 protected:
  SplitStep() { SetComputeThreads(1); }

  void Use(const Experiment& experiment) {
    experiment_ = experiment;
    whole_ = WithoutDropout((*BuildNetwork(experiment.model.name, experiment, kImages, kClasses))->graph);
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

  // In one place.
  Step Central(const Batches& batches) const {
    FlatBuffer parameters(parameters_.size()), statistics(statistics_.size()), gradients(parameters_.size());
    std::ranges::copy(parameters_.span(), parameters.data());
    std::ranges::copy(statistics_.span(), statistics.data());
    Executor executor(whole_, {parameters.span(), statistics.span(), gradients.span()});
    Rng rng(1);
    const auto pass = executor.Train({batches.inputs, batches.labels}, {.rng = &rng});
    EXPECT_TRUE(pass.ok());
    return {pass->loss,
            {gradients.data(), gradients.data() + gradients.size()},
            {statistics.data(), statistics.data() + statistics.size()}};
  }

  // By devices that come to the cut in this order; those not in it do not come, those in `gone` do not come back from it.
  Step Cut(const Batches& batches, std::vector<std::size_t> order, const std::vector<std::size_t>& gone = {}) {
    RestOfNetwork rest(CutNetwork(experiment_, whole_), 1, 0);
    const SplitSetup setup = SetupOf(experiment_, rest);
    RoundRequest request;
    for (std::size_t i = 0; i < batches.sizes.size(); ++i) request.participants.push_back(DeviceId{i});
    request.batches = batches.sizes;
    request.round = RoundId{1};
    RoundAggregate aggregate(*whole_);
    aggregate.Begin(static_cast<double>(batches.samples));
    HeldSink sink(setup.parameters, setup.statistics);
    sink.set_whole(aggregate);
    rest.Begin(request, {parameters_.span(), statistics_.span()}, aggregate);

    FlatBuffer held(setup.parameters.size());
    for (std::size_t i = 0; i < held.size(); ++i) held.data()[i] = parameters_.data()[setup.parameters.InWhole(i)];
    Worker worker(rest.network().held);
    const LocalData none;
    const int runs = rest.waits() ? rest.network().wire.crossings() + 1 : 1;
    Step step;
    for (int run = 0; run < runs; ++run) {
      for (const std::size_t device : order) {
        TrainHooks hooks;
        hooks.samples = static_cast<std::int64_t>(batches.sizes[device]);
        hooks.read = [&](std::uint64_t, Batch& batch) { batch = batches.Of(device); };
        hooks.cut = rest.network().cut;
        hooks.cross = [&](const CutBatch& batch) -> StatusOr<CutReply> {
          const bool left = batch.crossing + 1 == rest.network().wire.crossings() &&
                            std::ranges::find(gone, device) != gone.end();
          if (left && rest.network().tail) return Cancelled("gone before it answers the second time");
          TRIBUTARY_RETURN_IF_ERROR(rest.Take(device, batch));
          const CutReply* reply = rest.Reply(device, batch.crossing);
          if (reply == nullptr || left) return Cancelled("waits");
          return *reply;
        };
        const auto trained = worker.Train({.answer = TrainAssignment::Answer::kGradient}, {held.span(), {}},
                                          DeviceId{device}, none, hooks);
        if (trained.status().code() == StatusCode::kCancelled) continue;
        EXPECT_TRUE(trained.ok()) << trained.status().message();
        if (!trained.ok()) return step;
        EXPECT_TRUE(sink.Accept(DeviceId{device}, trained->update).ok());
        step.loss += trained->metrics.loss * static_cast<double>(batches.sizes[device]);
      }
      if (run + 1 == runs) break;
      EXPECT_TRUE(rest.Close(run).ok());
    }
    step.loss /= static_cast<double>(batches.samples);
    step.gradient.resize(parameters_.size());
    step.statistics.resize(statistics_.size());
    EXPECT_TRUE(aggregate.Mean(UpdatePart::kParameters, 0, step.gradient).ok());
    EXPECT_TRUE(aggregate.Mean(UpdatePart::kStatistics, 0, step.statistics).ok());
    return step;
  }

  void ExpectSame(const Step& split, const Step& central, const std::string& where) const {
    EXPECT_NEAR(split.loss, central.loss, kTolerance * std::abs(central.loss)) << where;
    EXPECT_LE(Distance(split.gradient, central.gradient), kTolerance) << where;
    EXPECT_LE(Distance(split.statistics, central.statistics), kTolerance) << where;
  }

  Experiment experiment_;
  std::shared_ptr<const Model> whole_;
  FlatBuffer parameters_, statistics_;
};

std::vector<std::string> CutsOf(const std::string& name) {
  const Model model(*BuildZooGraph({name, kImages, kClasses}));
  std::vector<std::string> cuts;
  for (NodeIndex node = 0; node < model.graph.size(); ++node) {
    if (model.cuts[node]) cuts.push_back(model.graph.node(node).name);
  }
  return cuts;
}

TEST_F(SplitStep, EqualsTheCentralisedStepForEveryCutOfResnet8) {
  const Batches batches({3, 1, 4});
  const std::vector<std::string> cuts = CutsOf("resnet8");
  EXPECT_GE(cuts.size(), 10U);
  for (const std::string& cut : cuts) {
    Use(ExperimentOf("resnet8", cut));
    ExpectSame(Cut(batches, {2, 0, 1}), Central(batches), cut);
  }
}

TEST_F(SplitStep, EqualsTheCentralisedStepForEveryCutOfGooglenet) {
  const Batches batches({1, 2});
  const std::vector<std::string> cuts = CutsOf("googlenet");
  EXPECT_GE(cuts.size(), 15U);
  for (const std::string& cut : cuts) {
    Use(ExperimentOf("googlenet", cut));
    ExpectSame(Cut(batches, {1, 0}), Central(batches), cut);
  }
}

TEST_F(SplitStep, WithATailOnDevicesToo) {
  const Batches batches({3, 1, 4});
  const std::vector<std::string> cuts = CutsOf("resnet8");
  for (std::size_t i = 0; i + 1 < cuts.size(); i += 3) {
    for (std::size_t j = i + 1; j < cuts.size(); j += 4) {
      Use(ExperimentOf("resnet8", cuts[i], cuts[j]));
      ExpectSame(Cut(batches, {2, 0, 1}), Central(batches), cuts[i] + " … " + cuts[j]);
    }
  }
}

}  // namespace
}  // namespace tributary
