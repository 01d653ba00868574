#include "tributary/device/round.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"
#include "tributary/model/split_points.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

constexpr std::size_t kSamples = 20;
constexpr Shape kImage{3, 16, 16};

std::vector<float> Values(std::span<const float> values) { return {values.begin(), values.end()}; }

class DeviceRoundTest : public testing::Test {
 protected:
  DeviceRoundTest()
      : model_(std::make_shared<const Model>(BuildZooGraph({"resnet8", kImage, 10, Stem::kAuto}).value())),
        dataset_(std::make_shared<const Dataset>(Noise())) {
    SetComputeThreads(1);
    data_.dataset = dataset_.get();
    data_.training.resize(kSamples);
    std::iota(data_.training.begin(), data_.training.end(), 0U);
    assignment_.batch = 6;
  }

  static Dataset Noise() {
    Rng rng(1);
    std::vector<float> values(kSamples * static_cast<std::size_t>(kImage.elements()));
    for (float& value : values) value = static_cast<float>(Normal(rng));
    std::vector<std::int32_t> labels(kSamples);
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(rng.Below(10));
    return Dataset::Make({.name = "noise", .shape = kImage, .classes = 10}, std::move(values),
                         std::move(labels))
        .value();
  }

  // The gradient of a round on the network, whose weights are those of a seed.
  std::vector<float> Train(const DeviceTraining& training, const RoundSamples* samples, SplitLink cut = {}) {
    FlatBuffer parameters(training.model->parameters.size), statistics(training.model->statistics.size);
    InitialiseWeights(*training.model, 7, parameters.span(), statistics.span());
    Worker worker(training.model);
    DeviceRound round{.training = training,
                      .assignment = assignment_,
                      .device = DeviceId{3},
                      .data = data_,
                      .samples = samples,
                      .cut = std::move(cut)};
    const auto trained = round.Train(worker, {parameters.span(), statistics.span()});
    EXPECT_TRUE(trained.ok()) << trained.status();
    return trained.ok() ? Values(trained->update.parameters) : std::vector<float>();
  }

  const std::shared_ptr<const Model> model_;
  const std::shared_ptr<const Dataset> dataset_;
  LocalData data_;
  TrainAssignment assignment_;
};

TEST_F(DeviceRoundTest, SamplesOfItsOwnBatchGiveTheBitsOfItsOwnData) {
  assignment_.augment.flip = true;  // which is keyed, as the samples are
  assignment_.round = RoundId{3};
  const std::uint64_t step = StepsOf(assignment_, data_).first;
  RoundSamples samples{.dataset = dataset_, .batch = assignment_.batch, .keys = {step}};
  samples.places = BatchSamples(data_, assignment_.batch, {assignment_.seed, DeviceId{3}, step});
  const std::vector<float> own = Train({.model = model_}, nullptr);
  EXPECT_EQ(Train({.model = model_}, &samples), own);
  std::swap(samples.places.back(), samples.places.front());
  samples.places.back() = (samples.places.back() + 1) % kSamples;
  EXPECT_NE(Train({.model = model_}, &samples), own);
}

TEST_F(DeviceRoundTest, ReadsItsStepsOneAfterTheOther) {
  const RoundSamples samples{dataset_, {4, 5, 6, 7, 8, 9}, 2, {100, 102, 104}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    Batch batch, expected;
    samples.Read(assignment_, DeviceId{3}, i, batch);
    const std::vector<std::uint32_t> places = {static_cast<std::uint32_t>(4 + 2 * i),
                                               static_cast<std::uint32_t>(5 + 2 * i)};
    GatherBatch(*dataset_, places, assignment_.augment, {assignment_.seed, DeviceId{3}, 100 + 2 * i},
                expected);
    EXPECT_EQ(batch.labels, expected.labels);
    EXPECT_EQ(Values(batch.inputs), Values(expected.inputs));
  }
}

TEST_F(DeviceRoundTest, StepsHaveTheSamplesOfDataStreamOrOthers) {
  assignment_.batch = 8;
  assignment_.steps = 4;
  EXPECT_EQ(StepSizes(assignment_, data_, false), (std::vector<std::size_t>{8, 8, 4, 8}));
  EXPECT_EQ(StepSizes(assignment_, data_, true), (std::vector<std::size_t>{8, 8, 8, 8}));
  assignment_.steps = 1;
  assignment_.round = RoundId{3};  // The third batch of an epoch is the last.
  EXPECT_EQ(StepSizes(assignment_, data_, false, 5), std::vector<std::size_t>{9});
  EXPECT_EQ(StepSizes(assignment_, data_, true, 5), std::vector<std::size_t>{13});
}

TEST_F(DeviceRoundTest, CrossesTheCutWithItsValuesAndThenItsLabels) {
  NodeIndex cut = 1;
  while (!model_->cuts[cut] || cut < model_->graph.size() / 2) ++cut;
  const auto front = std::make_shared<const Model>(PartOf(model_->graph, 1, cut));
  const auto values = static_cast<std::size_t>(model_->graph.shape(cut).elements());
  const DeviceTraining training{front, {{cut, SplitWire{.split_values = values}}}, {}};
  assignment_.first = 2;
  std::vector<std::int32_t> labels(assignment_.batch);
  int crossed = 0;
  const auto link = [&](int crossing, std::size_t samples, ByteSpan up) -> StatusOr<EncodedSplitReply> {
    EXPECT_EQ(crossing, 0);
    EXPECT_EQ(samples, assignment_.batch);
    const std::size_t bytes = samples * values * sizeof(float);
    EXPECT_EQ(up.size(), bytes + samples * sizeof(std::int32_t));
    std::memcpy(labels.data(), up.data() + bytes, labels.size() * sizeof(std::int32_t));
    ++crossed;
    const std::vector<float> gradient(samples * values, 0.01F);
    EncodedSplitReply back;
    TRIBUTARY_RETURN_IF_ERROR(AppendSplitValues(SplitPrecision::kFloat32, gradient, values, back.values));
    return back;
  };
  const std::vector<float> update = Train(training, nullptr, link);
  EXPECT_EQ(crossed, 1);
  EXPECT_NE(update, std::vector<float>(update.size(), 0.0F));
  ReplayOrder order(kSamples, assignment_.seed, DeviceId{3});
  const auto places = StreamSamples(data_, order, *assignment_.first, assignment_.batch);
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(labels[i], dataset_->label(places[i]));
}

}  // namespace
}  // namespace tributary::inline device
