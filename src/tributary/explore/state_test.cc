#include "tributary/explore/state.h"

#include <gtest/gtest.h>

namespace tributary::inline explore {
namespace {

ExplorationState Example() {
  ExplorationState state;
  state.setup = {{"model", "cnn"}, {"seed", "1"}};
  state.cost_model = CostModel{0.001, 1.0 / 3 * 1e-11, 0};
  state.search.generation = 2;
  state.search.population = {{{0.1, 1.0 / 3}, {12, 0.7}}, {{0, 0.95}, {8, 0.9}}};
  using Judged = CandidateRecord::Judged;
  state.untrained = 4.0 / 3;
  state.candidates = {{{8, 16}, 2.0 / 3, std::nullopt, std::nullopt},
                      {{8, 8}, 0.7, Judged{0.75, 0}, std::nullopt},
                      {{16, 16}, 0.5, Judged{0.1 + 0.2, 1}, Judged{1.0 / 7, 1}}};
  return state;
}

TEST(ExplorationState, ComesBackToTheBit) {
  const ExplorationState state = Example();
  const auto again = ParseExplorationState(FormatExplorationState(state));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->setup, state.setup);
  EXPECT_EQ(again->search, state.search);
  EXPECT_EQ(again->candidates, state.candidates);
  EXPECT_EQ(again->untrained, state.untrained);
  EXPECT_EQ(again->cost_model->per_mac, state.cost_model->per_mac);
}

TEST(ExplorationState, RefusesWhatItCannotHaveWritten) {
  const std::string text = FormatExplorationState(Example());
  const auto expect = [&](const std::string& piece, const std::string& other, const std::string& message) {
    std::string changed = text;
    const std::size_t at = changed.find(piece);
    ASSERT_NE(at, std::string::npos) << piece << " in " << text;
    const auto state = ParseExplorationState(changed.replace(at, piece.size(), other));
    ASSERT_FALSE(state.ok()) << changed;
    EXPECT_NE(state.status().message().find(message), std::string::npos) << state.status();
  };
  expect("\"schema\":2", "\"schema\":1", "its schema is 1; this program reads 2");
  expect("},\"full\"", "},\"fuller\"", "was confirmed without being evaluated");
  expect("\"untrained\":1", "\"untrained\":-1", "'untrained' is not a finite number of at least 0");
  expect("\"generation\":1", "\"generation\":7", "in a future generation");
  expect("\"generation\":2", "\"generation\":-2", "'generation' is not a whole number");
  expect("[8,16]", "[8,1.5]", "'kept' is not a list of numbers");
  expect("\"screened\":0.5", "\"screened\":-1", "'screened' is not a finite number of at least 0");
  expect("\"candidates\"", "\"candidate\"", "it has no 'candidates'");
  expect("\"cnn\"", "3", "'setup'");
  EXPECT_FALSE(ParseExplorationState("").ok());
  EXPECT_FALSE(ParseExplorationState("[]").ok());
  EXPECT_FALSE(ParseExplorationState(std::string(100, '[')).ok());
}

TEST(ExplorationState, GoesOnWithTheSameSetupOnly) {
  const std::map<std::string, std::string> saved = {{"model", "cnn"}, {"seed", "1"}};
  EXPECT_TRUE(CheckSameSetup(saved, saved).ok());
  const Status other = CheckSameSetup(saved, {{"model", "cnn"}, {"seed", "2"}});
  EXPECT_NE(other.message().find("its seed is 1, and 2 was asked for"), std::string::npos) << other;
  EXPECT_FALSE(CheckSameSetup(saved, {{"batch", "32"}}).ok());
}

}  // namespace
}  // namespace tributary::inline explore
