#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tributary/dashboard/shared_board.h"
#include "tributary/dashboard/testing_events.h"

namespace tributary::inline dashboard {
namespace {

using Json = nlohmann::json;

// A page that keeps the rounds that it was told of, as the real one does.
struct Follower {
  std::uint64_t heard = 0;
  std::vector<int> rounds;
  int wholes = 0;

  void Listen(Broadcast& broadcast) {
    std::istringstream lines(broadcast.Next(heard));
    std::string name, data, end;
    while (std::getline(lines, name) && std::getline(lines, data) && std::getline(lines, end)) {
      const Json json = Json::parse(data.substr(6));
      if (name == "event: board") {
        rounds = json["rounds"]["round"].get<std::vector<int>>();
        ++wholes;
      } else if (name == "event: points") {
        rounds.resize(json["rounds"]["keep"].get<std::size_t>());
        for (const int fresh : json["rounds"]["round"]) rounds.push_back(fresh);
      }
    }
  }
};

std::vector<int> RoundsOf(const SharedBoard& board) {
  return Json::parse(BoardJson(board.Take()))["rounds"]["round"].get<std::vector<int>>();
}

TEST(Broadcast, TellsEveryoneTheSameWheneverTheyCameAndHoweverSlowTheyAre) {
  SharedBoard board;
  VirtualClock clock;
  Broadcast broadcast(board, clock);
  board.Write(Started(2));
  Follower early, late, slow;
  for (int round = 1; round <= 100; ++round) {
    PlayRound(board, static_cast<std::uint64_t>(round), 2, round);
    clock.AdvanceTo(clock.Now() + std::chrono::milliseconds(300));
    early.Listen(broadcast);
    if (round >= 50) late.Listen(broadcast);
    if (round % 10 == 0) slow.Listen(broadcast);
    if (round == 60 || round == 90) {
      const std::vector<int> all = RoundsOf(board);
      EXPECT_EQ(early.rounds, all);
      EXPECT_EQ(late.rounds, all);
      EXPECT_EQ(slow.rounds, all);
    }
  }
  EXPECT_EQ(early.wholes, 1);
  EXPECT_EQ(late.wholes, 1);
  EXPECT_EQ(slow.wholes, 1);
}

TEST(Broadcast, TellsAllAgainToOneWhoIsTooFarBehind) {
  SharedBoard board;
  VirtualClock clock;
  Broadcast broadcast(board, clock);
  board.Write(Started(2));
  Follower early, sleeper;
  sleeper.Listen(broadcast);
  for (int round = 1; round <= static_cast<int>(Broadcast::kKept) + 2; ++round) {
    PlayRound(board, static_cast<std::uint64_t>(round), 2, round);
    clock.AdvanceTo(clock.Now() + std::chrono::milliseconds(300));
    early.Listen(broadcast);
  }
  sleeper.Listen(broadcast);
  EXPECT_EQ(sleeper.wholes, 2);
  EXPECT_EQ(sleeper.rounds, RoundsOf(board));
}

TEST(Broadcast, LooksAtTheBoardNoMoreOftenForManyThanForOne) {
  SharedBoard board;
  VirtualClock clock;
  Broadcast broadcast(board, clock);
  board.Write(Started(2));
  Follower one, other;
  one.Listen(broadcast);
  PlayRound(board, 1, 2, 1);
  other.Listen(broadcast);  // At the same moment: what the first was told, not what has happened since.
  EXPECT_TRUE(other.rounds.empty());
  board.Close();
  other.Listen(broadcast);
  one.Listen(broadcast);
  clock.AdvanceTo(clock.Now() + std::chrono::milliseconds(300));
  other.Listen(broadcast);
  one.Listen(broadcast);
  EXPECT_EQ(one.rounds, std::vector<int>{1});
  EXPECT_EQ(other.rounds, std::vector<int>{1});
}

TEST(Broadcast, TellsTheEndAtOnceWhenTheBoardIsClosed) {
  SharedBoard board;
  VirtualClock clock;
  Broadcast broadcast(board, clock);
  board.Write(Started(2));
  std::uint64_t heard = 0;
  broadcast.Next(heard);
  board.Write(At(3, RunFinished{1, RunEnd::kTarget, 0.75}));
  EXPECT_EQ(broadcast.Next(heard), "");  // too soon to look again
  board.Close();
  EXPECT_NE(broadcast.Next(heard).find("\"ended_by\":\"target\""), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline dashboard
