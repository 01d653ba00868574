#include "tributary/model/weights_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tributary/base/flat_buffer.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

struct Weights {
  explicit Weights(const std::string& name, std::int64_t classes = 10)
      : model(BuildZooGraph({name, Shape{3, 32, 32}, classes, Stem::kAuto}).value()),
        parameters(model.parameters.size),
        statistics(model.statistics.size) {}
  Model model;
  FlatBuffer parameters, statistics;
};

class WeightsFileTest : public testing::Test {
 protected:
  ~WeightsFileTest() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("weights_" + std::to_string(::getpid()) + ".safetensors");
};

TEST_F(WeightsFileTest, GivesBackWhatWasSaved) {
  Weights saved("resnet8");
  InitialiseWeights(saved.model, 3, saved.parameters.span(), saved.statistics.span());
  ASSERT_TRUE(
      SaveWeights(path_, saved.model, saved.parameters.span(), saved.statistics.span(), {{"a", "b"}}).ok());
  const auto file = WeightsFile::Read(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata().at("a"), "b");
  Weights loaded("resnet8");
  ASSERT_TRUE(file->CopyTo(loaded.model, loaded.parameters.span(), loaded.statistics.span()).ok());
  EXPECT_TRUE(std::ranges::equal(saved.parameters.span(), loaded.parameters.span()));
  EXPECT_TRUE(std::ranges::equal(saved.statistics.span(), loaded.statistics.span()));
}

TEST_F(WeightsFileTest, RefusesAnotherNetworkAndWritesNothing) {
  Weights saved("resnet8");
  InitialiseWeights(saved.model, 3, saved.parameters.span(), saved.statistics.span());
  ASSERT_TRUE(SaveWeights(path_, saved.model, saved.parameters.span(), saved.statistics.span(), {}).ok());
  const auto file = WeightsFile::Read(path_);
  ASSERT_TRUE(file.ok());
  const auto message = [&](Weights other) {
    const Status status = file->CopyTo(other.model, other.parameters.span(), other.statistics.span());
    EXPECT_TRUE(std::ranges::all_of(other.parameters.span(), [](float value) { return value == 0; }));
    const auto colon = status.message().find(": ");
    return colon == std::string::npos ? status.message() : status.message().substr(colon + 2);
  };
  EXPECT_EQ(message(Weights("resnet8", 7)), "tensor 'fc.weight' is F32 [10, 64], expected F32 [7, 64]");
  EXPECT_EQ(message(Weights("resnet20")), "it has no tensor 'layer1.1.conv1.weight'");
  EXPECT_EQ(message(Weights("cnn")),
            "tensor 'conv1.weight' is F32 [16, 3, 3, 3], expected F32 [32, 3, 3, 3]");
}

// As PyTorch saves a network: with a counter beside every norm.
TEST_F(WeightsFileTest, PassesOverCountersOfBatchesButNothingElse) {
  Weights saved("resnet8");
  InitialiseWeights(saved.model, 3, saved.parameters.span(), saved.statistics.span());
  std::vector<SafetensorsSource> tensors;
  for (const auto& [layout, memory] : {std::pair(&saved.model.parameters, saved.parameters.span()),
                                       std::pair(&saved.model.statistics, saved.statistics.span())}) {
    for (const Layout::Slot& slot : layout->slots) {
      tensors.push_back(
          {slot.name, slot.tensor.shape, memory.subspan(slot.segment.offset, slot.segment.count)});
    }
  }
  const float counter = 100;
  tensors.push_back({"bn1.num_batches_tracked", {}, std::span(&counter, 1)});
  ASSERT_TRUE(WriteSafetensors(path_, tensors, {}).ok());
  Weights loaded("resnet8");
  ASSERT_TRUE(WeightsFile::Read(path_)
                  ->CopyTo(loaded.model, loaded.parameters.span(), loaded.statistics.span())
                  .ok());
  EXPECT_TRUE(std::ranges::equal(saved.parameters.span(), loaded.parameters.span()));
  tensors.push_back({"bn9.weight", {}, std::span(&counter, 1)});
  ASSERT_TRUE(WriteSafetensors(path_, tensors, {}).ok());
  const Status status =
      WeightsFile::Read(path_)->CopyTo(loaded.model, loaded.parameters.span(), loaded.statistics.span());
  EXPECT_NE(status.message().find("it also holds 1 tensors that the network has not, like 'bn9.weight'"),
            std::string::npos)
      << status;
}

TEST_F(WeightsFileTest, LeavesANewHeadItsOwnValues) {
  Weights saved("resnet8");
  InitialiseWeights(saved.model, 3, saved.parameters.span(), saved.statistics.span());
  ASSERT_TRUE(SaveWeights(path_, saved.model, saved.parameters.span(), saved.statistics.span(), {}).ok());
  Weights other("resnet8", 7);
  InitialiseWeights(other.model, 4, other.parameters.span(), other.statistics.span());
  const Layout::Slot& head = other.model.parameters.slots[other.model.parameters.slots.size() - 2];
  ASSERT_EQ(head.name, "fc.weight");
  const auto fresh = other.parameters.span().subspan(head.segment.offset, head.segment.count);
  const std::vector<float> before(fresh.begin(), fresh.end());
  ASSERT_TRUE(WeightsFile::Read(path_)
                  ->CopyTo(other.model, other.parameters.span(), other.statistics.span(), {.new_head = true})
                  .ok());
  EXPECT_TRUE(std::ranges::equal(before, fresh));
  EXPECT_TRUE(std::ranges::equal(saved.parameters.span().first(head.segment.offset),
                                 other.parameters.span().first(head.segment.offset)));
}

// A network that is cut has group norms where the saved one had batch norms.
TEST_F(WeightsFileTest, NeedsNoStatisticsWhereNormsAreOthers) {
  Weights saved("resnet8");
  InitialiseWeights(saved.model, 3, saved.parameters.span(), saved.statistics.span());
  ASSERT_TRUE(SaveWeights(path_, saved.model, saved.parameters.span(), saved.statistics.span(), {}).ok());
  const Model cut(BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10, Stem::kAuto, "layer1.0.relu"}).value());
  FlatBuffer parameters(cut.parameters.size), statistics(cut.statistics.size);
  EXPECT_FALSE(WeightsFile::Read(path_)->CopyTo(cut, parameters.span(), statistics.span()).ok());
  ASSERT_TRUE(WeightsFile::Read(path_)
                  ->CopyTo(cut, parameters.span(), statistics.span(), {.other_norms = true})
                  .ok());
  EXPECT_TRUE(std::ranges::equal(saved.parameters.span(), parameters.span()));
}

}  // namespace
}  // namespace tributary::inline model
