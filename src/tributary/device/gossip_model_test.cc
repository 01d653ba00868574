#include "tributary/device/gossip_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tributary/base/distributions.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gossip_model.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class GossipModelTest : public ::testing::Test {
 protected:
  GossipModelTest()
      : model_(std::make_shared<const Model>(
            BuildZooGraph({"resnet8", Shape{3, 16, 16}, 4, Stem::kAuto}).value())),
        parameters_(model_->parameters.size),
        statistics_(model_->statistics.size),
        dataset_(Samples()),
        worker_(model_),
        mix_(*model_) {
    SetComputeThreads(1);
    InitialiseWeights(*model_, 7, parameters_.span(), statistics_.span());
    for (std::uint32_t i = 0; i < dataset_.size(); ++i) {
      data_[i % 2].dataset = &dataset_;
      data_[i % 2].training.push_back(i);
    }
    assignment_.answer = TrainAssignment::Answer::kGossip;
    assignment_.steps = 2;
    assignment_.batch = 4;
    assignment_.learning_rate = 0.05;
    assignment_.optimiser = {.momentum = 0.9};
  }

  static Dataset Samples() {
    Rng rng(1);
    std::vector<float> values(24 * 3 * 16 * 16);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    std::vector<std::int32_t> labels(24);
    for (auto& label : labels) label = static_cast<std::int32_t>(rng.Below(4));
    return Dataset::Make({.name = "noise", .shape = {3, 16, 16}, .classes = 4}, std::move(values),
                         std::move(labels))
        .value();
  }

  SharedWeights start() const { return {parameters_.span(), statistics_.span()}; }

  // A round of two devices that give each other this weight.
  void Round(GossipModel& a, GossipModel& b, std::uint64_t round, std::uint64_t from, double weight) {
    assignment_.round = RoundId{round};
    a.Begin(RoundId{round}, RoundId{from}, start());
    b.Begin(RoundId{round}, RoundId{from}, start());
    ASSERT_TRUE(a.Train(worker_, assignment_, DeviceId{0}, data_[0]).ok());
    ASSERT_TRUE(b.Train(worker_, assignment_, DeviceId{1}, data_[1]).ok());
    for (auto* const pair : {&a, &b}) {
      const auto meet = [&](const GossipModel::TakeModel& take) {
        return take(weight, (pair == &a ? b : a).offered());
      };
      ASSERT_TRUE(pair->Average(mix_, weight, meet).ok());
    }
  }

  static std::vector<float> All(const SharedWeights& weights) {
    std::vector<float> all(weights.parameters.begin(), weights.parameters.end());
    all.insert(all.end(), weights.statistics.begin(), weights.statistics.end());
    return all;
  }

  std::shared_ptr<const Model> model_;
  FlatBuffer parameters_, statistics_;
  Dataset dataset_;
  LocalData data_[2];
  Worker worker_;
  ModelMix mix_;
  TrainAssignment assignment_;
};

// D-PSGD of two devices written out: models, momenta and averages as plain arrays.
TEST_F(GossipModelTest, IsTheAlgorithmWrittenOut) {
  assignment_.learning_rate = 0.005;
  GossipModel a(model_, assignment_.optimiser), b(model_, assignment_.optimiser);
  struct Plain {
    std::vector<float> parameters, statistics, momentum;
  };
  std::vector<Plain> plain(2);
  for (Plain& device : plain) {
    device.parameters.assign(parameters_.span().begin(), parameters_.span().end());
    device.statistics.assign(statistics_.span().begin(), statistics_.span().end());
    device.momentum.assign(parameters_.size(), 0.0F);
  }
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Round(a, b, round, round - 1, 0.4);
    for (std::size_t d = 0; d < 2; ++d) {
      FlatBuffer mine(parameters_.size()), statistics(statistics_.size()), gradients(parameters_.size());
      std::ranges::copy(plain[d].parameters, mine.data());
      std::ranges::copy(plain[d].statistics, statistics.data());
      Executor executor(model_, {mine.span(), statistics.span(), gradients.span()});
      Batch batch;
      for (std::uint64_t step = 2 * round - 2; step < 2 * round; ++step) {
        ReadBatch(data_[d], 4, {assignment_.seed, DeviceId{d}, step}, {}, batch);
        ASSERT_TRUE(executor.Train({batch.inputs, batch.labels}, {}).ok());
        for (std::size_t i = 0; i < mine.size(); ++i) {
          plain[d].momentum[i] = 0.9F * plain[d].momentum[i] + gradients.data()[i];
          mine.data()[i] -= 0.005F * plain[d].momentum[i];
        }
      }
      plain[d].parameters.assign(mine.span().begin(), mine.span().end());
      plain[d].statistics.assign(statistics.span().begin(), statistics.span().end());
    }
    const auto average = [](std::vector<float>& x, std::vector<float>& y) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double first = static_cast<double>(x[i]), second = static_cast<double>(y[i]);
        x[i] = static_cast<float>(0.6 * first + 0.4 * second);
        y[i] = static_cast<float>(0.4 * first + 0.6 * second);
      }
    };
    average(plain[0].parameters, plain[1].parameters);
    average(plain[0].statistics, plain[1].statistics);
    const GossipModel* models[] = {&a, &b};
    for (std::size_t d = 0; d < 2; ++d) {
      const SharedWeights after = models[d]->After(RoundId{round});
      for (std::size_t i = 0; i < after.parameters.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(after.parameters[i]), static_cast<double>(plain[d].parameters[i]),
                    2e-5)
            << "round " << round << " device " << d << " element " << i;
      }
    }
  }
}

TEST_F(GossipModelTest, ARoundThatDidNotCountIsAsIfItHadNeverBeen) {
  GossipModel a(model_, assignment_.optimiser), b(model_, assignment_.optimiser);
  Round(a, b, 1, 0, 0.4);
  Round(a, b, 2, 1, 0.4);
  const auto second = All(a.After(RoundId{2}));
  Round(a, b, 2, 1, 0.1);  // the same again, another average
  EXPECT_NE(All(a.After(RoundId{2})), second);
  Round(a, b, 2, 1, 0.4);
  EXPECT_EQ(All(a.After(RoundId{2})), second);
  EXPECT_TRUE(a.Has(RoundId{1}) && a.Has(RoundId{2}) && !a.Has(RoundId{3}) && !a.Has(RoundId{0}));
  Round(a, b, 3, 2, 0.4);
  EXPECT_FALSE(a.Has(RoundId{1}));
  // What it never had, it starts anew.
  EXPECT_FALSE(a.Begin(RoundId{9}, RoundId{8}, start()));
  EXPECT_FALSE(a.Begin(RoundId{1}, RoundId{0}, start()));
  Round(a, b, 1, 0, 0.4);
  Round(a, b, 2, 1, 0.4);
  EXPECT_EQ(All(a.After(RoundId{2})), second);
}

TEST_F(GossipModelTest, GoesOnFromItsFiles) {
  const TemporaryFolder folder;
  GossipModel a(model_, assignment_.optimiser), b(model_, assignment_.optimiser);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Round(a, b, round, round - 1, 0.4);
    ASSERT_TRUE(a.Save(folder.path() / "a", RoundId{1}).ok());
    ASSERT_TRUE(b.Save(folder.path() / "b", RoundId{1}).ok());
  }
  Round(a, b, 4, 3, 0.4);
  const auto fourth = All(a.After(RoundId{4}));
  // The last two and the one that was to be kept; here those are all.
  GossipModel again(model_, assignment_.optimiser), other(model_, assignment_.optimiser);
  for (const std::uint64_t round : {2, 3}) {
    ASSERT_TRUE(again.Load(folder.path() / "a", RoundId{round}).ok());
    ASSERT_TRUE(again.Has(RoundId{round})) << round;
  }
  ASSERT_TRUE(other.Load(folder.path() / "b", RoundId{3}).ok());
  Round(again, other, 4, 3, 0.4);
  EXPECT_EQ(All(again.After(RoundId{4})), fourth);
  ASSERT_TRUE(again.Save(folder.path() / "a", RoundId{3}).ok());
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "a"))
    left.push_back(entry.path().filename());
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"gossip-3.safetensors", "gossip-4.safetensors"}));
  EXPECT_EQ(GossipModel::Saved(folder.path() / "a"), (std::vector<RoundId>{RoundId{4}, RoundId{3}}));
  EXPECT_TRUE(GossipModel::Saved(folder.path() / "nowhere").empty());
  // A missing file is no mistake; an unreadable file is reported and ignored.
  GossipModel fresh(model_, assignment_.optimiser);
  EXPECT_TRUE(fresh.Load(folder.path() / "a", RoundId{77}).ok());
  EXPECT_FALSE(fresh.Has(RoundId{77}));
  std::filesystem::resize_file(folder.path() / "a" / "gossip-4.safetensors", 1000);
  EXPECT_EQ(fresh.Load(folder.path() / "a", RoundId{4}).code(), StatusCode::kCorrupt);
  EXPECT_FALSE(fresh.Has(RoundId{4}));
  GossipModel wrong(model_, {.name = "adam"});
  EXPECT_NE(wrong.Load(folder.path() / "a", RoundId{3}).message().find("does not hold 'optimiser."),
            std::string::npos);
}

}  // namespace
}  // namespace tributary::inline device
