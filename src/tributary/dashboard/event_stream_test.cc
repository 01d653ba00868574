#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tributary/dashboard/shared_board.h"
#include "tributary/dashboard/testing_events.h"

namespace tributary::inline dashboard {
namespace {

using Json = nlohmann::json;

// The names of the events in a text, and their data.
std::vector<std::pair<std::string, Json>> Read(const std::string& text) {
  std::vector<std::pair<std::string, Json>> events;
  std::istringstream lines(text);
  std::string name, data, end;
  while (std::getline(lines, name) && std::getline(lines, data) && std::getline(lines, end)) {
    EXPECT_TRUE(name.starts_with("event: ") && data.starts_with("data: ") && end.empty()) << name;
    events.emplace_back(name.substr(7), Json::parse(data.substr(6)));
  }
  return events;
}

std::vector<std::string> Names(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, data] : Read(text)) names.push_back(name);
  return names;
}

TEST(EventStream, TellsAllFirstAndThenWhatIsNew) {
  Board board;
  EventStream stream;
  board.Write(Started(2));
  EXPECT_EQ(Names(stream.Next(board, 1, FromSeconds(0))), std::vector<std::string>{"board"});
  EXPECT_EQ(stream.Next(board, 1, FromSeconds(9)), "");  // nothing new
  PlayRound(board, 1, 2, 1);
  EXPECT_EQ(stream.Next(board, 2, FromSeconds(0.1)), "");  // too soon
  auto events = Read(stream.Next(board, 2, FromSeconds(0.3)));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].first, "points");
  EXPECT_EQ(events[0].second["rounds"]["round"], Json({1}));
  EXPECT_EQ(events[1].first, "now");
  EXPECT_EQ(Names(stream.Next(board, 2, FromSeconds(1.1))), std::vector<std::string>{"devices"});
  PlayRound(board, 2, 2, 2);
  PlayRound(board, 3, 2, 3);
  board.Write(At(3, Note{"slow"}));
  events = Read(stream.Next(board, 3, FromSeconds(1.5)));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].second["rounds"]["round"], Json({2, 3}));
  EXPECT_EQ(events[2].first, "notes");
  board.Write(At(3, RunFinished{3, RunEnd::kRounds, 0.5}));
  EXPECT_EQ(Names(stream.Next(board, 4, FromSeconds(1.51))),
            (std::vector<std::string>{"now", "devices"}));  // at once
}

TEST(EventStream, TellsAllAgainAfterAThinningAndWithNewDevices) {
  Board board;
  EventStream stream;
  board.Write(Started(1));
  std::uint64_t version = 1;
  double time = 0;
  stream.Next(board, version, FromSeconds(time));
  // Whoever follows has at each moment what the whole board says.
  std::vector<int> followed;
  int wholes = 0;
  for (std::uint64_t round = 1; round <= 3000; ++round) {
    PlayRound(board, round, 1, static_cast<double>(round));
    for (const auto& [name, data] : Read(stream.Next(board, ++version, FromSeconds(time += 0.3)))) {
      if (name == "board") {
        followed = data["rounds"]["round"].get<std::vector<int>>();
        ++wholes;
      } else if (name == "points") {
        followed.resize(data["rounds"]["keep"].get<std::size_t>());
        for (const int fresh : data["rounds"]["round"]) followed.push_back(fresh);
      }
    }
    std::vector<int> whole;
    for (const Board::Round& point : board.rounds.points())
      whole.push_back(static_cast<int>(point.finished.round.value));
    ASSERT_EQ(followed, whole);
  }
  EXPECT_EQ(wholes, 2);
  RunMetadata metadata;
  metadata.devices.resize(2);
  board.Describe(metadata);
  EXPECT_EQ(Names(stream.Next(board, ++version, FromSeconds(time))), std::vector<std::string>{"board"});
}

}  // namespace
}  // namespace tributary::inline dashboard
