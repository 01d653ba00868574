#include "tributary/engine/executor.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/testing/reference_networks.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline engine {
namespace {

// A model with its own memory and one random batch.
struct Bench {
  explicit Bench(StatusOr<Graph> graph, std::size_t samples = 6, ExecutorOptions options = {},
                 bool trains = true)
      : model(std::make_shared<const Model>(std::move(graph).value())),
        parameters(model->parameters.size),
        statistics(model->statistics.size),
        gradients(trains ? model->parameters.size : 0),
        executor(model, {parameters.span(), statistics.span(), gradients.span()}, options) {
    InitialiseWeights(*model, 1, parameters.span(), statistics.span());
    // Norms away from their neutral start, so that a mix-up of scale and shift shows.
    Rng rng(2);
    for (const Layout::Slot& slot : model->parameters.slots) {
      if (slot.tensor.shape.size() > 1) continue;
      for (std::size_t i = 0; i < slot.segment.count; ++i) {
        parameters.data()[slot.segment.offset + i] += static_cast<float>(Normal(rng, 0, 0.2));
      }
    }
    inputs.resize(samples * static_cast<std::size_t>(model->graph.input_shape().elements()));
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
    for (std::size_t i = 0; i < samples; ++i) {
      labels.push_back(
          static_cast<std::int32_t>(rng.Below(static_cast<std::uint64_t>(model->graph.classes()))));
    }
  }
  BatchView batch() const { return {inputs, labels}; }
  std::vector<float> Gradients() const { return {gradients.span().begin(), gradients.span().end()}; }

  std::shared_ptr<const Model> model;
  FlatBuffer parameters, statistics, gradients;
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  Executor executor;
};

StatusOr<Graph> Zoo(const std::string& name, Shape input = {3, 32, 32}) {
  return BuildZooGraph({name, input, 10, Stem::kAuto});
}

// Largest difference, relative to the largest value.
double Difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max<double>(largest, std::abs(b[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  return difference / std::max(largest, 1e-30);
}

std::span<const float> SpanOf(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

void ExpectEqualsHandWritten(StatusOr<Graph> graph, std::shared_ptr<ReferenceNetwork> reference,
                             MemoryFormat format, double tolerance = 1e-5) {
  SetComputeThreads(1);
  Bench bench(std::move(graph), 6, {format});
  LoadReference(*reference, *bench.model, bench.parameters.span(), bench.statistics.span());
  const Shape shape = bench.model->graph.input_shape();
  const torch::Tensor x =
      torch::from_blob(bench.inputs.data(), {6, shape.channels, shape.height, shape.width}, torch::kFloat)
          .clone();
  const torch::Tensor y = torch::from_blob(bench.labels.data(), {6}, torch::kInt).to(torch::kLong);

  // Evaluation first: it must not disturb anything.
  reference->eval();
  {
    const torch::NoGradGuard guard;
    const auto scores = bench.executor.Predict(bench.inputs, bench.model->graph.size() - 1);
    ASSERT_TRUE(scores.ok()) << scores.status();
    EXPECT_LE(Difference(*scores, SpanOf(reference->forward(x))), tolerance);
  }
  reference->train();
  const torch::Tensor scores = reference->forward(x);
  const torch::Tensor loss = torch::nn::functional::cross_entropy(
      scores, y, torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(0.1));
  loss.backward();

  PassOptions options;
  options.label_smoothing = 0.1;
  const auto result = bench.executor.Train(bench.batch(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(result->loss, loss.item<double>(), 1e-5 * std::abs(loss.item<double>()));
  EXPECT_EQ(result->correct, scores.argmax(1).eq(y).sum().item<std::int64_t>());
  const auto parameters = reference->named_parameters();
  for (const Layout::Slot& slot : bench.model->parameters.slots) {
    EXPECT_LE(Difference(bench.gradients.span().subspan(slot.segment.offset, slot.segment.count),
                         SpanOf(parameters[slot.name].grad().contiguous())),
              tolerance)
        << slot.name;
  }
  const auto buffers = reference->named_buffers();
  for (const Layout::Slot& slot : bench.model->statistics.slots) {
    EXPECT_LE(Difference(bench.statistics.span().subspan(slot.segment.offset, slot.segment.count),
                         SpanOf(buffers[slot.name])),
              tolerance)
        << slot.name;
  }
}

TEST(Executor, EqualsTheSameNetworkWrittenByHand) {
  ExpectEqualsHandWritten(MakeEveryKindGraph(), MakeEveryKindReference(), MemoryFormat::kContiguous);
  ExpectEqualsHandWritten(Zoo("resnet20"), MakeReferenceNetwork("resnet20"), MemoryFormat::kContiguous);
  ExpectEqualsHandWritten(Zoo("vgg11"), MakeReferenceNetwork("vgg11"), MemoryFormat::kContiguous);
}

TEST(Executor, EqualsTheSameNetworkWrittenByHandInChannelsLast) {
  // The reference sums in the other order: a few more roundings.
  ExpectEqualsHandWritten(MakeEveryKindGraph(), MakeEveryKindReference(), MemoryFormat::kChannelsLast, 5e-5);
  ExpectEqualsHandWritten(Zoo("resnet20"), MakeReferenceNetwork("resnet20"), MemoryFormat::kChannelsLast,
                          5e-5);
}

TEST(Executor, AnnouncesUnitsForwardInOrderAndGradientsFromTheLastToTheFirst) {
  Bench bench(Zoo("resnet8"));
  std::vector<std::size_t> forward;
  std::vector<std::size_t> backward;
  std::vector<float> at_announcement(bench.gradients.size());
  PassOptions options;
  options.hooks.before_forward = [&](std::size_t unit) {
    forward.push_back(unit);
    return true;
  };
  options.hooks.gradient_ready = [&](std::size_t unit) {
    backward.push_back(unit);
    const Segment& segment = bench.model->parameters.units[unit];
    std::copy_n(bench.gradients.data() + segment.offset, segment.count,
                at_announcement.begin() + static_cast<std::ptrdiff_t>(segment.offset));
  };
  ASSERT_TRUE(bench.executor.Train(bench.batch(), options).ok());
  std::vector<std::size_t> expected(bench.model->units.size());
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(forward, expected);
  std::vector<std::size_t> sorted = backward;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, expected);
  EXPECT_EQ(backward.front(), expected.back());
  EXPECT_EQ(backward.back(), 0U);
  // What was announced was complete: nothing was added later.
  EXPECT_EQ(at_announcement, bench.Gradients());
  EXPECT_GT(std::count_if(at_announcement.begin(), at_announcement.end(), [](float g) { return g != 0; }),
            1000);
}

TEST(Executor, ParametersMayArriveWhileTheForwardPassRuns) {
  Bench bench(Zoo("resnet8"));
  ASSERT_TRUE(bench.executor.Train(bench.batch()).ok());
  const std::vector<float> whole = bench.Gradients();

  Bench late(Zoo("resnet8"));
  const std::vector<float> source(late.parameters.span().begin(), late.parameters.span().end());
  std::fill(late.parameters.span().begin(), late.parameters.span().end(), 0.0F);
  PassOptions options;
  options.hooks.before_forward = [&](std::size_t unit) {
    const Segment& segment = late.model->parameters.units[unit];
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(segment.offset), segment.count,
                late.parameters.data() + segment.offset);
    return true;
  };
  ASSERT_TRUE(late.executor.Train(late.batch(), options).ok());
  EXPECT_EQ(late.Gradients(), whole);
}

TEST(Executor, ParametersMayBeWrittenOnceTheirGradientIsReady) {
  for (const char* name : {"resnet8", "cnn", "mobilenet-v2", "googlenet", "densenet-40"}) {
    SCOPED_TRACE(name);
    Rng rng(3), same(3);
    Bench bench(Zoo(name)), written(Zoo(name));
    PassOptions options;
    options.rng = &rng;
    ASSERT_TRUE(bench.executor.Train(bench.batch(), options).ok());
    options.rng = &same;
    options.hooks.gradient_ready = [&](std::size_t unit) {
      const Segment& segment = written.model->parameters.units[unit];
      std::fill_n(written.parameters.data() + segment.offset, segment.count, 1e30F);
    };
    ASSERT_TRUE(written.executor.Train(written.batch(), options).ok());
    EXPECT_EQ(written.Gradients(), bench.Gradients());
  }
}

TEST(Executor, APassCanBeGivenUpOnItsWayForward) {
  Bench bench(Zoo("resnet8"));
  PassOptions options;
  options.hooks.before_forward = [](std::size_t unit) { return unit < 3; };
  options.hooks.gradient_ready = [](std::size_t) { ADD_FAILURE(); };
  EXPECT_EQ(bench.executor.Train(bench.batch(), options).status().code(), StatusCode::kCancelled);
  ASSERT_TRUE(bench.executor.Train(bench.batch()).ok());
  const std::vector<float> after = bench.Gradients();
  Bench fresh(Zoo("resnet8"));
  ASSERT_TRUE(fresh.executor.Train(fresh.batch()).ok());
  // But for the running statistics that the first units had updated, nothing is left of it.
  EXPECT_EQ(after, fresh.Gradients());
}

TEST(Executor, CutAnywhereGivesTheSameBits) {
  for (const char* name : {"resnet8", "cnn", "mobilenet-v2"}) {
    SetComputeThreads(1);
    Rng rng(9);
    PassOptions whole_options;
    whole_options.rng = &rng;
    Bench whole(Zoo(name), 3);
    const auto expected = whole.executor.Train(whole.batch(), whole_options);
    ASSERT_TRUE(expected.ok()) << expected.status();

    const std::size_t step = std::string(name) == "mobilenet-v2" ? 17 : 1;
    for (NodeIndex cut = 1; cut + 1 < whole.model->graph.size(); cut += step) {
      if (!whole.model->cuts[cut]) continue;
      Bench front(Zoo(name), 3);
      Bench back(Zoo(name), 3);
      Rng same(9);
      PassOptions options;
      options.rng = &same;
      const auto activations = front.executor.Forward(front.inputs, cut, options);
      ASSERT_TRUE(activations.ok()) << activations.status();
      options.first = cut + 1;
      const auto result = back.executor.Train({*activations, back.labels}, options);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_TRUE(front.executor.Backward(back.executor.input_gradient()).ok());
      EXPECT_EQ(result->loss, expected->loss);
      std::vector<float> joined = front.Gradients();
      const std::vector<float> rest = back.Gradients();
      for (std::size_t i = 0; i < joined.size(); ++i) joined[i] += rest[i];  // one of them is zero everywhere
      EXPECT_LE(Difference(joined, whole.gradients.span()), 0)
          << name << " cut after " << whole.model->graph.node(cut).name;
    }
  }
}

TEST(Executor, APassFromTheMiddleOfAUnitLeavesNothingOfTheOneBefore) {
  Bench bench(Zoo("resnet8", {3, 16, 16}));
  ASSERT_EQ(bench.model->graph.node(1).name, "conv1");  // a unit with the norm that follows
  ASSERT_TRUE(bench.model->cuts[1]);
  const std::vector<float> inputs(6 * static_cast<std::size_t>(bench.model->graph.shape(1).elements()), 0.5F);
  ASSERT_TRUE(bench.executor.Train({inputs, bench.labels}, {.first = 2}).ok());
  const std::vector<float> once = bench.Gradients();
  ASSERT_TRUE(bench.executor.Train({inputs, bench.labels}, {.first = 2}).ok());
  EXPECT_EQ(bench.Gradients(), once);
}

TEST(Executor, LayersWithoutParametersGoBackToNothing) {
  GraphBuilder builder("flat", {3, 4, 4});
  builder.Add("flatten", Flatten{}, {0});
  Bench bench(std::move(builder).Build(), 2);
  const auto values = bench.executor.Forward(bench.inputs, 1);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_TRUE(std::ranges::equal(*values, bench.inputs));
  bool done = false;
  const Status status = bench.executor.Backward(bench.inputs, {.forward_done = [&](double) { done = true; }});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(done);
}

TEST(Executor, TwoPassesAreTheSameAsOne) {
  // Gradients are overwritten, not added up.
  Bench bench(Zoo("cnn"));
  ASSERT_TRUE(bench.executor.Train(bench.batch()).ok());
  const std::vector<float> first = bench.Gradients();
  ASSERT_TRUE(bench.executor.Train(bench.batch()).ok());
  EXPECT_EQ(bench.Gradients(), first);
}

TEST(Executor, EveryZooNetworkTrainsForward) {
  for (const NetworkKind& entry : tributary::Zoo()) {
    if (entry.name == "resnet152" || entry.name == "vgg19" || entry.name == "resnet50")
      continue;  // same code, slower
    Bench bench(Zoo(entry.name), 2);
    Rng rng(1);
    PassOptions options;
    options.rng = &rng;
    const auto result = bench.executor.Train(bench.batch(), options);
    ASSERT_TRUE(result.ok()) << entry.name << result.status();
    EXPECT_TRUE(std::isfinite(result->loss));
    std::size_t silent = 0;
    for (const Layout::Slot& slot : bench.model->parameters.slots) {
      const auto values = bench.gradients.span().subspan(slot.segment.offset, slot.segment.count);
      silent += std::all_of(values.begin(), values.end(), [](float g) { return g == 0; }) ? 1 : 0;
    }
    EXPECT_EQ(silent, 0U) << entry.name;
  }
}

TEST(Executor, DropoutComesFromTheGivenStreamOnly) {
  GraphBuilder b("dropping", {1, 1, 64});
  NodeIndex x = b.Add("flatten", Flatten{}, {0});
  x = b.Add("drop", Dropout{0.5}, {x});
  b.Add("fc", Linear{4}, {x});
  const Graph graph = std::move(b).Build().value();
  const auto loss = [&](std::uint64_t seed) {
    Bench bench{Graph(graph)};
    Rng rng(seed);
    PassOptions options;
    options.rng = &rng;
    return bench.executor.Train(bench.batch(), options)->loss;
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
}

TEST(Executor, ALabelThatIsNoClassIsRefused) {
  Bench bench(Zoo("cnn"));
  bench.labels[0] = 10;
  EXPECT_FALSE(bench.executor.Train(bench.batch()).ok());
  bench.labels[0] = 0;
  EXPECT_TRUE(bench.executor.Train(bench.batch()).ok());
}

TEST(Executor, EvaluatesWithoutMemoryForGradients) {
  Bench bench(Zoo("resnet8"), 4, {}, /*trains=*/false);
  const std::vector<float> before(bench.statistics.span().begin(), bench.statistics.span().end());
  const auto result = bench.executor.Evaluate(bench.batch());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), bench.statistics.span().begin()));
}

TEST(Executor, MomentsOfTwoBatchesAreThoseOfWhatTheFirstNormReads) {
  // The first norm reads the first convolution's output, which Predict() gives; deeper ones are checked for counts.
  Bench bench(Zoo("resnet8"), 6);
  const Model& model = *bench.model;
  std::vector<double> sums(model.statistics.size, 0);
  std::vector<double> counts(model.statistics.size, 0);
  ASSERT_TRUE(bench.executor.AddMoments(bench.inputs, sums, counts).ok());
  ASSERT_TRUE(bench.executor.AddMoments(bench.inputs, sums, counts).ok());
  const auto activations = bench.executor.Predict(bench.inputs, 1);
  ASSERT_TRUE(activations.ok()) << activations.status();
  const std::size_t pixels = 32 * 32;
  const Layout::Slot& mean = model.statistics.slots[0];
  const Layout::Slot& variance = model.statistics.slots[1];
  for (std::size_t c = 0; c < 16; ++c) {
    double sum = 0;
    double squares = 0;
    for (std::size_t n = 0; n < 6; ++n) {
      for (std::size_t p = 0; p < pixels; ++p) {
        const double x = (*activations)[(n * 16 + c) * pixels + p];
        sum += 2 * x;
        squares += 2 * x * x;
      }
    }
    EXPECT_NEAR(sums[mean.segment.offset + c], sum, 1e-3 + 1e-5 * std::abs(sum));
    EXPECT_NEAR(sums[variance.segment.offset + c], squares, 1e-5 * squares);
    EXPECT_EQ(counts[mean.segment.offset + c], 2.0 * 6 * pixels);
  }
  EXPECT_EQ(counts[model.statistics.slots.back().segment.offset], 2.0 * 6 * 8 * 8);
}

}  // namespace
}  // namespace tributary::inline engine
