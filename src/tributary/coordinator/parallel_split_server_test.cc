#include "tributary/coordinator/parallel_split_server.h"

#include <bit>
#include <limits>

#include "tributary/coordinator/testing_split.h"

namespace tributary::inline coordinator {
namespace {

using testing::Batches;
using testing::Distance;
using testing::ExperimentOf;
using testing::SplitPointsOf;
using testing::Step;
using testing::Visit;

constexpr double kTolerance = 1e-5;

// The ways in which the rest can run: whether it waits for all, whether there are layers before the one that does, and
// whether devices have a tail.
struct Mode {
  const char* name;
  const char* model;
  const char* cut;
  const char* tail;
  bool waits, early;
};
constexpr Mode kModes[] = {{"alone", "lenet5", "pool1", nullptr, false, false},
                           {"together", "resnet8", "layer1.0.relu", nullptr, true, false},
                           {"early", "chain", "relu1", nullptr, true, true},
                           {"tail", "lenet5", "pool1", "relu3", false, false},
                           {"together, tail", "resnet8", "layer1.0.relu", "layer2.0.relu", true, false},
                           {"early, tail", "chain", "relu1", "pool", true, true}};

// Layers without norms, then norms, in a row: it can be cut anywhere.
Graph Chain() {
  GraphBuilder b("chain", testing::kImages);
  const auto conv = [](std::int64_t channels) {
    return Conv{.out_channels = channels, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
  };
  NodeIndex x = b.Add("conv1", conv(8), {0});
  x = b.Add("relu1", Relu{}, {x});
  x = b.Add("conv2", conv(8), {x});
  x = b.Add("bn2", BatchNorm{}, {x});
  x = b.Add("relu2", Relu{}, {x});
  x = b.Add("conv3", conv(16), {x});
  x = b.Add("bn3", BatchNorm{}, {x});
  x = b.Add("relu3", Relu{}, {x});
  x = b.Add("pool", GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  b.Add("fc", Linear{testing::kClasses}, {x});
  return *std::move(b).Build();
}

std::vector<std::uint32_t> Bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

void ExpectSameBits(const Step& a, const Step& b) {
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_TRUE(Bits(a.gradient) == Bits(b.gradient));
  EXPECT_TRUE(Bits(a.statistics) == Bits(b.statistics));
}

class ParallelSplitServerTest : public testing::SplitFixture {
 protected:
  void Use(const Mode& mode) {
    const Experiment experiment =
        ExperimentOf(mode.model, mode.cut, mode.tail ? std::optional<std::string>(mode.tail) : std::nullopt);
    if (mode.model == std::string("chain")) {
      SplitFixture::Use(experiment, Chain());
    } else {
      SplitFixture::Use(experiment);
    }
    const ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0);
    ASSERT_EQ(rest.waits(), mode.waits) << mode.name;
    if (!mode.waits) return;
    ASSERT_EQ(rest.waits_from() > 1, mode.early) << mode.name;
  }

  // What the devices in `all` give together when only those in `there` come back from their last crossing, worked out
  // with the whole network in one place.
  Step WithoutTheGone(const Batches& batches, const std::vector<std::size_t>& all,
                      const std::vector<std::size_t>& there) const {
    const SplitNetwork network = SplitNetworkAt(experiment_, whole_);
    const NodeIndex last = whole_->graph.size() - 1, tail = network.tail.value_or(last);
    const Batch batch = batches.Of(all);
    // A stretch of the network on memory of its own.
    struct Stretch {
      Stretch(const ParallelSplitServerTest& test)
          : gradients(test.parameters_.size()), statistics(test.statistics_.size()) {
        std::ranges::copy(test.statistics_.span(), statistics.data());
        std::span<float> parameters(const_cast<float*>(test.parameters_.data()), test.parameters_.size());
        executor.emplace(test.whole_, NetworkMemory{parameters, statistics.span(), gradients.span()});
      }
      FlatBuffer gradients, statistics;
      std::optional<Executor> executor;
    };
    Stretch front(*this), early(*this), middle(*this), end(*this);
    Rng rng(1);
    // Rows of samples of those who are there, or of the others.
    const auto keep = [&](std::vector<float> values, float factor, bool gather) {
      const std::size_t each = values.size() / batch.labels.size();
      std::vector<float> kept;
      std::size_t row = 0;
      for (const std::size_t device : all) {
        const bool comes = std::ranges::find(there, device) != there.end();
        for (std::size_t i = 0; i < batches.sizes[device] * each; ++i, ++row) {
          if (comes) kept.push_back(values[row] * factor);
          if (!comes && !gather) kept.push_back(0);
        }
      }
      return kept;
    };
    const auto copy = [](std::span<const float> values) {
      return std::vector<float>(values.begin(), values.end());
    };
    const Batch some = batches.Of(there);
    const double share = static_cast<double>(batch.labels.size()) / static_cast<double>(some.labels.size());
    const std::vector<float> at_cut =
        copy(front.executor->Forward(batch.inputs, network.cut, {.rng = &rng}).value());
    std::vector<float> back;
    if (!network.tail) {
      // The rest has gone back by then, for all: only their own part of it is missing from the front.
      const PassOptions options{.first = network.cut + 1, .rng = &rng, .input_gradient = true};
      EXPECT_TRUE(middle.executor->Train({at_cut, batch.labels}, options).ok());
      back = keep(copy(middle.executor->input_gradient()), static_cast<float>(share), false);
    } else {
      // Batches go their own ways before the layer that waits.
      const NodeIndex waits = network.cut + ParallelSplitServer(network, 1, 0).waits_from();
      const bool alone = waits > network.cut + 1 && waits <= tail;
      std::vector<float> at_waits = at_cut;
      if (alone)
        at_waits = copy(
            early.executor
                ->Forward(at_cut, waits - 1, {.first = network.cut + 1, .rng = &rng, .input_gradient = true})
                .value());
      const PassOptions options{
          .first = alone ? waits : network.cut + 1, .rng = &rng, .input_gradient = true};
      const std::vector<float> at_tail = copy(middle.executor->Forward(at_waits, tail, options).value());
      const PassOptions behind{.first = tail + 1, .rng = &rng, .input_gradient = true};
      EXPECT_TRUE(end.executor->Train({keep(at_tail, 1, true), some.labels}, behind).ok());
      // Rows of zeros for the others.
      std::vector<float> joined;
      const std::vector<float> gradient = copy(end.executor->input_gradient());
      const std::size_t each = at_tail.size() / batch.labels.size();
      auto next = gradient.begin();
      for (const std::size_t device : all) {
        const auto count = static_cast<std::ptrdiff_t>(batches.sizes[device] * each);
        const bool comes = std::ranges::find(there, device) != there.end();
        if (!comes) joined.resize(joined.size() + static_cast<std::size_t>(count), 0);
        if (comes) joined.insert(joined.end(), next, next + count);
        if (comes) next += count;
      }
      EXPECT_TRUE(middle.executor->Backward(joined).ok());
      // What others' norms had of them goes back nowhere.
      back = keep(copy(middle.executor->input_gradient()), 1, false);
      if (alone) {
        EXPECT_TRUE(early.executor->Backward(back).ok());
        back = copy(early.executor->input_gradient());
        const Layout& layout = whole_->parameters;
        std::copy(early.gradients.data() + layout.From(network.cut + 1),
                  early.gradients.data() + layout.From(waits),
                  middle.gradients.data() + layout.From(network.cut + 1));
      }
    }
    EXPECT_TRUE(front.executor->Backward(back).ok());
    Step step;
    const std::size_t a = whole_->parameters.From(network.cut + 1), b = whole_->parameters.From(tail + 1);
    step.gradient = copy(front.gradients.span());
    std::copy(middle.gradients.data() + a, middle.gradients.data() + (network.tail ? b : parameters_.size()),
              step.gradient.data() + a);
    if (network.tail)
      std::copy(end.gradients.data() + b, end.gradients.data() + end.gradients.size(),
                step.gradient.data() + b);
    step.statistics = copy(middle.statistics.span());
    return step;
  }

  const Batches batches_{{3, 1, 2}};
};

TEST_F(ParallelSplitServerTest, TheOrderOfArrivalChangesNoBit) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    const Step step = Cut(batches_, {.order = {0, 1, 2}});
    EXPECT_TRUE(step.refused.empty());
    ExpectSameBits(Cut(batches_, {.order = {2, 1, 0}}), step);
    ExpectSameBits(Cut(batches_, {.order = {1, 2, 0}}), step);
  }
}

TEST_F(ParallelSplitServerTest, WhatComesTwiceCountsOnce) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    ExpectSameBits(Cut(batches_, {.order = {0, 1, 2}, .twice = true}), Cut(batches_, {.order = {0, 1, 2}}));
  }
}

TEST_F(ParallelSplitServerTest, WhoDoesNotComeHasNoPartInTheMean) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    ExpectSame(Cut(batches_, {.order = {2, 0}}), Central(batches_.Of({0, 2})), mode.name);
    ExpectSame(Cut(batches_, {.order = {2}}), Central(batches_.Of({2})), mode.name);
  }
}

TEST_F(ParallelSplitServerTest, WhoDoesNotComeBackHasItsPartInTheRestAndNoneInTheFront) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    const Step step = Cut(batches_, {.order = {1, 0, 2}, .gone = {0}});
    EXPECT_TRUE(step.refused.empty());
    const Step wanted = WithoutTheGone(batches_, {0, 1, 2}, {1, 2});
    const std::size_t rest = whole_->parameters.From(SplitNetworkAt(experiment_, whole_).cut + 1);
    EXPECT_LE(Distance(std::span(step.gradient).first(rest), std::span(wanted.gradient).first(rest)),
              kTolerance);
    EXPECT_LE(Distance(std::span(step.gradient).subspan(rest), std::span(wanted.gradient).subspan(rest)),
              kTolerance);
    EXPECT_LE(Distance(step.statistics, wanted.statistics), kTolerance);
  }
}

TEST_F(ParallelSplitServerTest, RoundsFollowEachOtherWithoutTraces) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0);
    Cut(rest, batches_, {.order = {2, 1}, .gone = {1}});
    // Other weights in the same place, other participants.
    for (float& value : parameters_.span()) value *= 0.9F;
    const Batches others({2, 4});
    ExpectSameBits(Cut(rest, others, {.order = {1, 0}}), Cut(others, {.order = {0, 1}}));
  }
}

TEST_F(ParallelSplitServerTest, SmoothsLabelsWhereItHasThem) {
  for (const Mode& mode : {kModes[0], kModes[1]}) {
    Use(mode);
    ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0.3);
    ExpectSame(Cut(rest, batches_, {.order = {0, 1, 2}}), Central(batches_.Of({0, 1, 2}), 0.3), mode.name);
  }
}

TEST_F(ParallelSplitServerTest, ValuesThatNothingCanBeLearntFromLoseOnlyTheirOwnDevice) {
  const auto infinite = [](float& value) { value = std::numeric_limits<float>::infinity(); };
  const auto no_number = [](float& value) { value = std::numeric_limits<float>::quiet_NaN(); };
  const auto huge = [](float& value) { value = value < 0 ? -3e38F : 3e38F; };
  const std::function<void(float&)> spoils[] = {infinite, no_number, huge};
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    const Step without = Cut(batches_, {.order = {0, 2}});
    for (const auto& spoil : spoils) {
      const Step step = Cut(
          batches_,
          {.order = {0, 1, 2}, .spoil = [&](std::size_t device, int crossing, std::vector<float>& values) {
             if (device == 1 && crossing == 0) std::ranges::for_each(values, spoil);
           }});
      ASSERT_EQ(step.refused.size(), 1U) << step.refused.begin()->second;
      EXPECT_FALSE(step.refused.at(1).empty());
      ExpectSameBits(step, without);
    }
  }
}

TEST_F(ParallelSplitServerTest, AGradientThatNothingCanBeLearntFromLosesOnlyItsOwnDevice) {
  for (const Mode& mode : kModes) {
    if (mode.tail == nullptr) continue;
    SCOPED_TRACE(mode.name);
    Use(mode);
    const auto with = [&](float value) {
      return Cut(batches_, {.order = {0, 1, 2},
                            .spoil = [&](std::size_t device, int crossing, std::vector<float>& values) {
                              if (device == 1 && crossing == 1) std::ranges::fill(values, value);
                            }});
    };
    const Step none = with(std::numeric_limits<float>::quiet_NaN());
    ASSERT_EQ(none.refused.size(), 1U);
    EXPECT_EQ(none.refused.at(1), "device 1 sends a value over the cut that is not a number");
    ExpectSameBits(none, Cut(batches_, {.order = {0, 1, 2}, .gone = {1}}));
    // Numbers, of which some layer or other makes none.
    const Step huge = with(3e38F);
    EXPECT_FALSE(huge.refused.contains(0));
    EXPECT_FALSE(huge.refused.contains(2));
    EXPECT_TRUE(std::ranges::all_of(huge.gradient, [](float value) { return std::isfinite(value); }));
  }
}

TEST_F(ParallelSplitServerTest, WhereNobodysValuesAreSoundEveryoneIsTold) {
  Use(kModes[1]);
  ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0);
  UpdateJournal journal("/tmp");
  MeanAggregator aggregate(*whole_, journal);
  aggregate.Begin(6);
  const WorkOrder request = RequestOf(batches_);
  rest.Begin(request, {{}, weights(), aggregate});
  const std::size_t each = rest.network().wire.split_values;
  const std::vector<float> values(6 * each, 3e38F);
  const std::vector<std::int32_t> labels(6, 1);
  for (const std::size_t i : {0, 1}) {
    const std::size_t samples = batches_.sizes[i];
    ASSERT_TRUE(
        rest.Take(i, {0, std::span(values).first(samples * each), std::span(labels).first(samples)}).ok());
  }
  EXPECT_NE(rest.Close(0).message().find("use a lower learning rate"), std::string::npos);
  for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(rest.Reply(i, 0), nullptr);
}

TEST_F(ParallelSplitServerTest, WithoutAnyoneThereIsNothingToClose) {
  for (const Mode& mode : kModes) {
    Use(mode);
    ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0);
    UpdateJournal journal("/tmp");
    MeanAggregator aggregate(*whole_, journal);
    aggregate.Begin(6);
    const WorkOrder request = RequestOf(batches_);
    rest.Begin(request, {{}, weights(), aggregate});
    for (int crossing = 0; crossing < rest.network().wire.crossings(); ++crossing) {
      EXPECT_TRUE(rest.Close(crossing).ok());
      for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(rest.Reply(i, crossing), nullptr);
    }
    EXPECT_FALSE(aggregate.CheckComplete().ok());
  }
}

TEST_F(ParallelSplitServerTest, WhatDoesNotFitIsRefusedInWords) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Use(mode);
    ParallelSplitServer rest(SplitNetworkAt(experiment_, whole_), 1, 0);
    UpdateJournal journal("/tmp");
    MeanAggregator aggregate(*whole_, journal);
    aggregate.Begin(6);
    WorkOrder request = RequestOf(batches_);
    request.participants[0] = DeviceId{40};  // who has three samples
    rest.Begin(request, {{}, weights(), aggregate});
    const SplitWire& wire = rest.network().wire;
    const std::size_t size = 3 * wire.split_values;
    const std::vector<float> values(size + 1, 0.5F);
    const std::vector<std::int32_t> labels = {1, 2, 3, 4};
    const auto refusal = [&](int crossing, std::size_t count, std::span<const std::int32_t> classes) {
      const Status status = rest.Take(0, {crossing, std::span(values).first(count), classes});
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_EQ(rest.Reply(0, 0), nullptr);
      return status.message();
    };
    const auto some = [&](std::size_t count) { return std::span(labels).first(count); };
    const std::size_t right = wire.labels_travel() ? 3 : 0;
    const std::string expected = "; expected: " + std::to_string(size) + " and " + std::to_string(right);
    EXPECT_EQ(refusal(0, size - 1, some(right)), "device 40 sends " + std::to_string(size - 1) +
                                                     " values and " + std::to_string(right) +
                                                     " labels over the cut for 3 samples" + expected);
    EXPECT_NE(refusal(0, size + 1, some(right)), "");
    EXPECT_NE(refusal(0, 0, some(right)), "");
    EXPECT_EQ(refusal(0, size, some(right + 1)), "device 40 sends " + std::to_string(size) + " values and " +
                                                     std::to_string(right + 1) +
                                                     " labels over the cut for 3 samples" + expected);
    if (wire.labels_travel()) {
      EXPECT_NE(refusal(0, size, some(2)), "");
      for (const std::int32_t label : {-1, 10, std::numeric_limits<std::int32_t>::max()}) {
        const std::vector<std::int32_t> wrong = {1, label, 3};
        EXPECT_EQ(refusal(0, size, wrong),
                  "device 40 sends label " + std::to_string(label) + " where there are 10 classes");
      }
    } else {
      EXPECT_EQ(refusal(1, 3 * wire.tail_values, {}),
                "a gradient came over the cut before what it belongs to");
    }
    for (const int crossing : {-1, wire.crossings(), 1000}) {
      const std::size_t count = crossing == 1 ? 0 : 3 * wire.tail_values;
      EXPECT_EQ(refusal(crossing, count, {}), "device 40 sends something for crossing " +
                                                  std::to_string(crossing) + " of the cut; there are " +
                                                  std::to_string(wire.crossings()) + ", counted from 0");
    }
    // None of it has left anything behind.
    EXPECT_TRUE(rest.Take(0, {0, std::span(values).first(size), some(right)}).ok());
  }
}

}  // namespace
}  // namespace tributary::inline coordinator
