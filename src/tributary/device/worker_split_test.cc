// A worker that has only the ends of a network learns what one that has all of it learns.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/device/worker.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"
#include "tributary/model/split_points.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

constexpr double kTolerance = 1e-5;
constexpr std::size_t kSamples = 20;

double Distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference) / std::max(1e-30, std::sqrt(norm));
}

std::vector<float> Copy(std::span<const float> values) { return {values.begin(), values.end()}; }

// A network with norms and branches, and a device whose samples' first value is their number.
class WorkerSplitTest : public testing::Test {
 protected:
  explicit WorkerSplitTest(const std::string& name = "resnet8")
      : whole_(
            std::make_shared<const Model>(BuildZooGraph({name, Shape{3, 16, 16}, 10, Stem::kAuto}).value())),
        parameters_(whole_->parameters.size),
        statistics_(whole_->statistics.size),
        dataset_(Samples()) {
    SetComputeThreads(1);
    InitialiseWeights(*whole_, 7, parameters_.span(), statistics_.span());
    data_.dataset = &dataset_;
    data_.training.resize(dataset_.size());
    std::iota(data_.training.begin(), data_.training.end(), 0U);
    assignment_.batch = 7;
    assignment_.first = 4;
  }

  static Dataset Samples() {
    Rng rng(1);
    std::vector<float> values(kSamples * 3 * 16 * 16);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    std::vector<std::int32_t> labels(kSamples);
    for (std::size_t i = 0; i < kSamples; ++i) {
      values[i * 3 * 16 * 16] = static_cast<float>(i) / 8;
      labels[i] = static_cast<std::int32_t>(rng.Below(10));
    }
    return Dataset::Make({.name = "noise", .shape = {3, 16, 16}, .classes = 10}, std::move(values),
                         std::move(labels))
        .value();
  }

  NodeIndex last() const { return whole_->graph.size() - 1; }
  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }
  std::vector<NodeIndex> Cuts() const {
    std::vector<NodeIndex> cuts;
    for (NodeIndex node = 1; node < last(); ++node) {
      if (whole_->cuts[node]) cuts.push_back(node);
    }
    return cuts;
  }

  // What devices have: all up to the cut, and all behind the tail.
  struct ClientPart {
    ClientPart(const WorkerSplitTest& test, NodeIndex cut, std::optional<NodeIndex> tail)
        : model(std::make_shared<const Model>(tail ? EndsOf(test.whole_->graph, cut, *tail)
                                                   : PartOf(test.whole_->graph, 1, cut))),
          parameters(model->parameters.size),
          statistics(model->statistics.size) {
      const auto gather = [&](const Layout& all, std::span<const float> from, std::span<float> to) {
        const std::size_t front = all.From(cut + 1), end = tail ? all.From(*tail + 1) : all.size;
        ASSERT_EQ(to.size(), front + all.size - end);
        std::copy_n(from.data(), front, to.data());
        std::copy(from.data() + end, from.data() + all.size, to.data() + front);
      };
      gather(test.whole_->parameters, test.parameters_.span(), parameters.span());
      gather(test.whole_->statistics, test.statistics_.span(), statistics.span());
    }
    SharedWeights weights() const { return {parameters.span(), statistics.span()}; }
    std::shared_ptr<const Model> model;
    FlatBuffer parameters, statistics;
  };

  // The rest, elsewhere: on the whole network, from node to node.
  struct ServerPart {
    explicit ServerPart(const WorkerSplitTest& test)
        : parameters(test.parameters_.size()),
          statistics(test.statistics_.size()),
          gradients(test.parameters_.size()) {
      std::ranges::copy(test.parameters_.span(), parameters.data());
      std::ranges::copy(test.statistics_.span(), statistics.data());
      executor.emplace(test.whole_, NetworkMemory{parameters.span(), statistics.span(), gradients.span()});
    }
    FlatBuffer parameters, statistics, gradients;
    std::optional<Executor> executor;
  };

  // Puts the two together again, and compares with the whole in one place.
  void ExpectWhole(NodeIndex cut, std::optional<NodeIndex> tail, const Worker::Trained& trained,
                   const ServerPart& rest) {
    Worker alone(whole_);
    const auto wanted = alone.Train(assignment_, weights(), DeviceId{3}, data_);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    const auto join = [&](const Layout& all, std::span<const float> held, std::span<const float> middle) {
      std::vector<float> joined = Copy(middle);
      const std::size_t front = all.From(cut + 1), end = tail ? all.From(*tail + 1) : all.size;
      std::copy_n(held.data(), front, joined.data());
      std::copy(held.begin() + static_cast<std::ptrdiff_t>(front), held.end(), joined.data() + end);
      return joined;
    };
    const std::vector<float> gradient =
        join(whole_->parameters, trained.update.parameters, rest.gradients.span());
    const std::vector<float> statistics =
        join(whole_->statistics, trained.update.statistics, rest.statistics.span());
    EXPECT_LE(Distance(gradient, wanted->update.parameters), kTolerance);
    EXPECT_LE(Distance(statistics, wanted->update.statistics), kTolerance);
    EXPECT_NEAR(trained.metrics.loss, wanted->metrics.loss, kTolerance * wanted->metrics.loss);
    EXPECT_EQ(trained.metrics.correct, wanted->metrics.correct);
    EXPECT_EQ(trained.metrics.samples, 7);
    EXPECT_EQ(trained.update.weight, 7);
  }

  // Hooks that go through the rest, which sees the labels.
  TrainHooks Once(NodeIndex cut, ServerPart& rest) {
    TrainHooks hooks;
    hooks.cut = cut;
    hooks.cross = [this, cut, &rest](const SplitBatch& batch) -> StatusOr<SplitReply> {
      EXPECT_EQ(batch.crossing, 0);
      EXPECT_EQ(batch.labels.size(), 7U);
      EXPECT_EQ(batch.values.size(), 7 * static_cast<std::size_t>(whole_->graph.shape(cut).elements()));
      const auto pass =
          rest.executor->Train({batch.values, batch.labels}, {.first = cut + 1, .input_gradient = true});
      EXPECT_TRUE(pass.ok()) << pass.status();
      return SplitReply{Copy(rest.executor->input_gradient()), pass->loss, pass->correct};
    };
    return hooks;
  }
  // And hooks that go through a middle, which does not.
  TrainHooks Twice(NodeIndex cut, NodeIndex tail, ServerPart& rest) {
    TrainHooks hooks;
    hooks.cut = cut;
    hooks.cross = [this, cut, tail, &rest](const SplitBatch& batch) -> StatusOr<SplitReply> {
      EXPECT_TRUE(batch.labels.empty());
      const NodeIndex node = batch.crossing == 0 ? cut : tail;
      EXPECT_EQ(batch.values.size(), 7 * static_cast<std::size_t>(whole_->graph.shape(node).elements()));
      if (batch.crossing == 0) {
        const auto values =
            rest.executor->Forward(batch.values, tail, {.first = cut + 1, .input_gradient = true});
        EXPECT_TRUE(values.ok()) << values.status();
        return SplitReply{Copy(*values), 0, 0};
      }
      EXPECT_TRUE(rest.executor->Backward(batch.values).ok());
      return SplitReply{Copy(rest.executor->input_gradient()), 0, 0};
    };
    return hooks;
  }

  std::shared_ptr<const Model> whole_;
  FlatBuffer parameters_, statistics_;
  Dataset dataset_;
  LocalData data_;
  TrainAssignment assignment_;
};

TEST_F(WorkerSplitTest, OneCrossingIsThePassOfTheWholeNetwork) {
  for (const NodeIndex cut : Cuts()) {
    SCOPED_TRACE(whole_->graph.node(cut).name);
    const ClientPart held(*this, cut, std::nullopt);
    ServerPart rest(*this);
    Worker worker(held.model);
    const auto trained = worker.Train(assignment_, held.weights(), DeviceId{3}, data_, Once(cut, rest));
    ASSERT_TRUE(trained.ok()) << trained.status();
    ExpectWhole(cut, std::nullopt, *trained, rest);
  }
}

// Local steps, each over the cut: what the front learns is its part of what the whole learns, with a rest that takes the
// same steps.
TEST_F(WorkerSplitTest, LocalStepsGoOverTheCutOneAfterTheOther) {
  TrainAssignment assignment = assignment_;
  assignment.answer = TrainAssignment::Answer::kChange;
  assignment.first.reset();
  assignment.steps = 4;
  assignment.learning_rate = 0.02;
  assignment.optimiser.momentum = 0.9;
  const NodeIndex cut = Cuts()[Cuts().size() / 2];
  const ClientPart held(*this, cut, std::nullopt);
  ServerPart rest(*this);
  const auto optimiser = MakeOptimiser(assignment.optimiser, rest.parameters.size()).value();
  TrainHooks hooks = Once(cut, rest);
  int crossings = 0;
  hooks.cross = [&](const SplitBatch& batch) -> StatusOr<SplitReply> {
    EXPECT_EQ(batch.crossing, crossings++);
    const auto pass =
        rest.executor->Train({batch.values, batch.labels}, {.first = cut + 1, .input_gradient = true});
    EXPECT_TRUE(pass.ok()) << pass.status();
    SplitReply reply{Copy(rest.executor->input_gradient()), pass->loss, pass->correct};
    optimiser->Step(rest.parameters.span(), rest.gradients.span(), assignment.learning_rate);
    return reply;
  };
  Worker worker(held.model), alone(whole_);
  const auto trained = worker.Train(assignment, held.weights(), DeviceId{3}, data_, hooks);
  ASSERT_TRUE(trained.ok()) << trained.status();
  const auto wanted = alone.Train(assignment, weights(), DeviceId{3}, data_);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_EQ(crossings, 4);
  const std::size_t front = whole_->parameters.From(cut + 1);
  EXPECT_LE(Distance(trained->update.parameters, wanted->update.parameters.first(front)), kTolerance);
  EXPECT_NEAR(trained->metrics.loss, wanted->metrics.loss, kTolerance * wanted->metrics.loss);
  EXPECT_EQ(trained->update.weight, wanted->update.weight);
}

TEST_F(WorkerSplitTest, LocalStepsAreNotForNetworksWithATail) {
  const std::vector<NodeIndex> cuts = Cuts();
  const ClientPart held(*this, cuts[0], cuts[1]);
  ServerPart rest(*this);
  TrainAssignment assignment = assignment_;
  assignment.answer = TrainAssignment::Answer::kChange;
  const auto trained =
      Worker(held.model).Train(assignment, held.weights(), DeviceId{3}, data_, Twice(cuts[0], cuts[1], rest));
  EXPECT_EQ(trained.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(WorkerSplitTest, SoAreTwoCrossingsAroundAMiddle) {
  const std::vector<NodeIndex> cuts = Cuts();
  for (std::size_t i = 0; i + 1 < cuts.size(); i += 2) {
    for (std::size_t j = i + 1; j < cuts.size(); j += 3) {
      SCOPED_TRACE(whole_->graph.node(cuts[i]).name + " … " + whole_->graph.node(cuts[j]).name);
      const ClientPart held(*this, cuts[i], cuts[j]);
      ServerPart rest(*this);
      Worker worker(held.model);
      const auto trained =
          worker.Train(assignment_, held.weights(), DeviceId{3}, data_, Twice(cuts[i], cuts[j], rest));
      ASSERT_TRUE(trained.ok()) << trained.status();
      ExpectWhole(cuts[i], cuts[j], *trained, rest);
    }
  }
}

TEST_F(WorkerSplitTest, PartsOfTheUpdateAreReadyOnce) {
  const NodeIndex cut = Cuts()[3], tail = Cuts()[6];
  const ClientPart held(*this, cut, tail);
  ServerPart rest(*this);
  TrainHooks hooks = Twice(cut, tail, rest);
  std::vector<std::size_t> asked, ready;
  std::vector<float> got(held.parameters.size(), -1);
  hooks.await = [&](std::size_t unit) {
    asked.push_back(unit);
    return true;
  };
  hooks.ready = [&](const Update& update, std::size_t unit) {
    ready.push_back(unit);
    const Segment part = held.model->parameters.units[unit];
    std::ranges::copy(update.parameters.subspan(part.offset, part.count),
                      got.begin() + static_cast<std::ptrdiff_t>(part.offset));
  };
  Worker worker(held.model);
  const auto trained = worker.Train(assignment_, held.weights(), DeviceId{3}, data_, hooks);
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_EQ(got, Copy(trained->update.parameters));
  std::vector<std::size_t> all(held.model->units.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::ranges::sort(ready);
  std::ranges::sort(asked);
  EXPECT_EQ(ready, all);
  EXPECT_EQ(asked, all);
}

TEST_F(WorkerSplitTest, GivingUpAtTheCutLeavesNothingBehind) {
  const NodeIndex cut = Cuts()[3], tail = Cuts()[6];
  for (const bool with_tail : {false, true}) {
    const ClientPart held(*this, cut, with_tail ? std::optional(tail) : std::nullopt);
    ServerPart fresh(*this);
    Worker other(held.model);
    const TrainHooks through = with_tail ? Twice(cut, tail, fresh) : Once(cut, fresh);
    const auto wanted = other.Train(assignment_, held.weights(), DeviceId{3}, data_, through);
    ASSERT_TRUE(wanted.ok());
    for (const int where : {0, 1}) {
      if (where == 1 && !with_tail) continue;
      Worker worker(held.model);
      ServerPart rest(*this);
      TrainHooks hooks = with_tail ? Twice(cut, tail, rest) : Once(cut, rest);
      const auto cross = hooks.cross;
      hooks.cross = [&](const SplitBatch& batch) -> StatusOr<SplitReply> {
        if (batch.crossing == where) return Cancelled("elsewhere");
        return cross(batch);
      };
      TrainAssignment earlier = assignment_;
      earlier.first = 0;
      for (int i = 0; i < 2; ++i) {
        const auto given_up = worker.Train(earlier, held.weights(), DeviceId{3}, data_, hooks);
        EXPECT_EQ(given_up.status().code(), StatusCode::kCancelled);
      }
      ServerPart again(*this);
      const auto trained = worker.Train(assignment_, held.weights(), DeviceId{3}, data_,
                                        with_tail ? Twice(cut, tail, again) : Once(cut, again));
      ASSERT_TRUE(trained.ok()) << trained.status();
      EXPECT_EQ(Copy(trained->update.parameters), Copy(wanted->update.parameters));
      EXPECT_EQ(Copy(trained->update.statistics), Copy(wanted->update.statistics));
      EXPECT_EQ(trained->metrics.loss, wanted->metrics.loss);
    }
  }
}

TEST_F(WorkerSplitTest, RepliesThatDoNotFitAreRefused) {
  const NodeIndex cut = Cuts()[3], tail = Cuts()[6];
  for (const bool with_tail : {false, true}) {
    for (const int where : {0, 1}) {
      if (where == 1 && !with_tail) continue;
      for (const int change : {-1, 1}) {
        const ClientPart held(*this, cut, with_tail ? std::optional(tail) : std::nullopt);
        ServerPart rest(*this);
        TrainHooks hooks = with_tail ? Twice(cut, tail, rest) : Once(cut, rest);
        const auto cross = hooks.cross;
        hooks.cross = [&](const SplitBatch& batch) -> StatusOr<SplitReply> {
          auto reply = cross(batch);
          if (batch.crossing == where)
            reply->values.resize(
                static_cast<std::size_t>(static_cast<std::ptrdiff_t>(reply->values.size()) + change));
          return reply;
        };
        Worker worker(held.model);
        const auto trained = worker.Train(assignment_, held.weights(), DeviceId{3}, data_, hooks);
        EXPECT_EQ(trained.status().code(), StatusCode::kInvalidArgument) << with_tail << where << change;
      }
    }
  }
}

// Whose front has no weights: what goes over the cut are the samples themselves.
class WorkerReadingTest : public WorkerSplitTest {
 protected:
  WorkerReadingTest() : WorkerSplitTest("mlp") {}

  // The numbers of the samples of this batch.
  std::vector<std::size_t> Read(std::int64_t first, std::size_t batch, std::uint64_t device = 3) {
    const NodeIndex cut = 1;
    EXPECT_EQ(whole_->graph.node(cut).name, "flatten");
    const ClientPart held(*this, cut, std::nullopt);
    EXPECT_EQ(held.model->parameters.size, 0U);
    std::vector<std::size_t> numbers;
    TrainHooks hooks;
    hooks.cut = cut;
    hooks.cross = [&](const SplitBatch& crossing) -> StatusOr<SplitReply> {
      for (std::size_t i = 0; i < crossing.labels.size(); ++i) {
        const auto number = static_cast<std::size_t>(std::lround(8 * crossing.values[i * 3 * 16 * 16]));
        EXPECT_EQ(crossing.labels[i], dataset_.labels()[number]);
        numbers.push_back(number);
      }
      return Cancelled("seen");
    };
    TrainAssignment assignment = assignment_;
    assignment.first = first;
    assignment.batch = batch;
    Worker worker(held.model);
    EXPECT_EQ(worker.Train(assignment, held.weights(), DeviceId{device}, data_, hooks).status().code(),
              StatusCode::kCancelled);
    return numbers;
  }
};

TEST_F(WorkerReadingTest, EverySampleComesOnceAnEpochInANewOrder) {
  std::vector<std::vector<std::size_t>> epochs;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::size_t>& seen = epochs.emplace_back();
    std::int64_t first = epoch * static_cast<std::int64_t>(kSamples);
    for (const std::size_t batch : {7, 1, 9, 3}) {
      const std::vector<std::size_t> numbers = Read(first, batch);
      EXPECT_EQ(numbers.size(), batch);
      seen.insert(seen.end(), numbers.begin(), numbers.end());
      first += static_cast<std::int64_t>(batch);
    }
    std::vector<std::size_t> sorted = seen, all(kSamples);
    std::ranges::sort(sorted);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(sorted, all);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST_F(WorkerReadingTest, HowTheRowIsCutIntoBatchesChangesNothing) {
  std::vector<std::size_t> row = Read(0, kSamples);
  for (const std::size_t number : Read(kSamples, kSamples)) row.push_back(number);
  EXPECT_EQ(Read(18, 5), std::vector<std::size_t>(row.begin() + 18, row.begin() + 23));
  EXPECT_EQ(Read(39, 1), std::vector<std::size_t>(row.begin() + 39, row.begin() + 40));
  EXPECT_NE(Read(kSamples, kSamples, 4),
            std::vector<std::size_t>(row.begin() + kSamples, row.end()));  // another device's
}

TEST_F(WorkerReadingTest, NoBatchIsLargerThanWhatTheDeviceHas) {
  const ClientPart held(*this, 1, std::nullopt);
  TrainAssignment assignment = assignment_;
  assignment.first = 0;
  assignment.batch = 1'000'000'000;
  TrainHooks hooks;
  hooks.cut = 1;
  hooks.cross = [](const SplitBatch&) -> StatusOr<SplitReply> { return Cancelled("not to be reached"); };
  Worker worker(held.model);
  const Status status = worker.Train(assignment, held.weights(), DeviceId{3}, data_, hooks).status();
  EXPECT_EQ(status.message(), "an assignment asks for 1000000000 samples where the device has 20");
}

}  // namespace
}  // namespace tributary::inline device
