#include "tributary/fleet/simulated/disturbances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tributary::inline simulated {
namespace {

std::vector<DeviceProfile> Profiles() {
  std::vector<DeviceProfile> profiles(10);
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    profiles[i].id = DeviceId{i};
    profiles[i].group = i < 4 ? "pi" : "server";
  }
  return profiles;
}

std::vector<DeviceId> All() {
  std::vector<DeviceId> all;
  for (std::uint64_t i = 0; i < 10; ++i) all.push_back({i});
  return all;
}

std::vector<Trouble> Draw(const Disturbance& disturbance, RoundId round) {
  return DrawTroubles(std::vector{disturbance}, Profiles(), All(), 1, round, TimePoint(7));
}

TEST(Disturbances, TakeTheShareTheyNameAnewEachRound) {
  Disturbance vanish{.kind = DisturbanceKind::kVanish, .devices = Disturbance::All{}, .share = 0.3};
  std::set<std::vector<bool>> patterns;
  for (std::uint64_t round = 1; round <= 20; ++round) {
    std::vector<bool> gone;
    for (const Trouble& trouble : Draw(vanish, RoundId{round})) {
      gone.push_back(std::holds_alternative<Vanishes>(trouble.fault));
    }
    EXPECT_EQ(std::count(gone.begin(), gone.end(), true), 3);
    patterns.insert(gone);
  }
  EXPECT_GT(patterns.size(), 10U);
}

TEST(Disturbances, ReachOnlyWhomAndWhenTheyName) {
  const Disturbance slow{
      .kind = DisturbanceKind::kSlow, .devices = std::string("pi"), .rounds = {{RoundId{2}}}, .factor = 100};
  for (const Trouble& trouble : Draw(slow, RoundId{1})) EXPECT_EQ(trouble.slow, 1);
  const auto troubles = Draw(slow, RoundId{2});
  for (std::size_t i = 0; i < troubles.size(); ++i) EXPECT_EQ(troubles[i].slow, i < 4 ? 100 : 1);

  const Disturbance corrupt{.kind = DisturbanceKind::kCorrupt, .devices = std::vector<DeviceId>{{5}}};
  const auto corrupted = Draw(corrupt, RoundId{1});
  for (std::size_t i = 0; i < corrupted.size(); ++i) EXPECT_EQ(corrupted[i].corrupt, i == 5);
}

TEST(Disturbances, AttacksChangeWhatIsSentByDeviceAndRound) {
  const std::vector<float> update = {1, -2, 3};
  Disturbance attack{.kind = DisturbanceKind::kAttack, .devices = std::string("pi")};
  attack.attack = {AttackKind::kSignFlip, 2};
  const auto flipped = Draw(attack, RoundId{1});
  for (std::size_t i = 0; i < flipped.size(); ++i) {
    EXPECT_EQ(flipped[i].changes_update(), i < 4);
    EXPECT_EQ(Changed(flipped[i], update), i < 4 ? (std::vector<float>{-2, 4, -6}) : update);
  }
  attack.attack.kind = AttackKind::kNoise;
  std::set<std::vector<float>> noises;
  for (const RoundId round : {RoundId{1}, RoundId{2}, RoundId{1}}) {
    const auto noisy = Draw(attack, round);
    for (std::size_t i = 0; i < 4; ++i) noises.insert(Changed(noisy[i], update));
  }
  EXPECT_EQ(noises.size(), 8U);
}

TEST(Disturbances, ShiftedLabelsChangeWhatIsLearntAndNotTheUpdate) {
  Disturbance attack{.kind = DisturbanceKind::kAttack, .devices = std::vector<DeviceId>{{5}}};
  attack.attack = {AttackKind::kLabelShift, 3};
  const std::vector<Disturbance> twice = {attack, attack};
  const auto troubles = DrawTroubles(twice, Profiles(), All(), 1, RoundId{1}, TimePoint(7));
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    EXPECT_EQ(troubles[i].label_shift, i == 5 ? 6 : 0);
    EXPECT_FALSE(troubles[i].changes_update());
  }
}

TEST(Disturbances, DevicesThatColludeSendWhatTheyAgreeOn) {
  Disturbance attack{.kind = DisturbanceKind::kAttack, .devices = std::string("pi")};
  attack.attack = {AttackKind::kIpm, 2};
  auto troubles =
      DrawTroubles(std::vector{Disturbance{}, attack}, Profiles(), All(), 1, RoundId{1}, TimePoint(7));
  ASSERT_EQ(troubles[0].attacks.size(), 1U);
  EXPECT_EQ(troubles[0].attacks[0].disturbance, 1U);
  EXPECT_TRUE(troubles[0].changes_update());
  const auto joint = std::make_shared<const std::vector<float>>(std::vector<float>{7, 8});
  troubles[0].attacks[0].joint = joint;
  EXPECT_EQ(Changed(troubles[0], std::vector<float>{1, 2}), *joint);
}

}  // namespace
}  // namespace tributary::inline simulated
