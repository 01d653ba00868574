#include "tributary/explore/state_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tributary/explore/testing_exploration.h"
#include "tributary/model/initialise.h"

namespace tributary::inline explore {
namespace {

struct ExplorationStateFile : testing::Test {
  ExplorationStateFile() {
    state.setup = {{"seed", "1"}};
    state.cost_model = CostModel{0.001, 0, 0};
    state.untrained = 2;
    std::vector<std::int64_t> all;
    for (const auto& group : model->channels.groups) all.push_back(group.atoms);
    state.candidates = {{all, 1.5, std::nullopt, std::nullopt}};
    for (std::size_t i = 0; i < kSnapshots; ++i) {
      Snapshot& snapshot = snapshots.emplace_back(*model);
      InitialiseWeights(*model, i, snapshot.parameters.span(), snapshot.statistics.span());
    }
  }
  ~ExplorationStateFile() override { std::filesystem::remove(path); }
  std::string ReadError() const {
    const auto saved = ReadExplorationState(path, *model, state.setup);
    return saved.ok() ? "" : saved.status().message();
  }
  std::shared_ptr<const Model> model = SmallNetwork("resnet8");
  ExplorationState state;
  std::vector<Snapshot> snapshots;
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "exploration_state_test";
};

TEST_F(ExplorationStateFile, ComesBackToTheBit) {
  ASSERT_TRUE(WriteExplorationState(path, state, snapshots).ok());
  const auto saved = ReadExplorationState(path, *model, state.setup);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->state.candidates, state.candidates);
  ASSERT_EQ(saved->snapshots.size(), kSnapshots);
  for (std::size_t i = 0; i < kSnapshots; ++i) {
    EXPECT_TRUE(std::ranges::equal(saved->snapshots[i].parameters.span(), snapshots[i].parameters.span()));
    EXPECT_TRUE(std::ranges::equal(saved->snapshots[i].statistics.span(), snapshots[i].statistics.span()));
  }
}

TEST_F(ExplorationStateFile, IsRefusedWithItsNameAndTheReason) {
  EXPECT_NE(ReadError().find(path.string()), std::string::npos);
  ASSERT_TRUE(WriteExplorationState(path, state, snapshots).ok());
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-8, std::ios::end);
    file.put(77);
  }
  EXPECT_NE(ReadError().find("its checksum is wrong"), std::string::npos) << ReadError();

  state.candidates[0].kept[0] += 1;
  ASSERT_TRUE(WriteExplorationState(path, state, snapshots).ok());
  EXPECT_NE(ReadError().find("its candidate 0 is not a sub-network"), std::string::npos) << ReadError();
  state.candidates[0].kept[0] -= 1;

  snapshots.pop_back();
  ASSERT_TRUE(WriteExplorationState(path, state, snapshots).ok());
  EXPECT_NE(ReadError().find("not what they were evaluated with"), std::string::npos) << ReadError();

  state.candidates.clear();
  snapshots[0].parameters.data()[3] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(WriteExplorationState(path, state, snapshots).ok());
  EXPECT_NE(ReadError().find("contains values that are not finite"), std::string::npos) << ReadError();

  std::ofstream(path) << "{}";
  EXPECT_NE(ReadError(), "");
}

}  // namespace
}  // namespace tributary::inline explore
