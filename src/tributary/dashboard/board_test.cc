#include "tributary/dashboard/board.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tributary/dashboard/testing_events.h"

namespace tributary::inline dashboard {
namespace {

using Json = nlohmann::json;

RunMetadata TwoDevices() {
  RunMetadata metadata;
  metadata.dense_update = {400};
  metadata.target = 0.9;
  metadata.mechanisms = {"compression"};
  metadata.front = {{0.5, 1.5}};
  metadata.devices = {{"pi", "weak", {30, 10}}, {"", "strong", {0, 40}}};
  return metadata;
}

TEST(Board, AddsUpARound) {
  Board board;
  board.Describe(TwoDevices());
  board.Write(Started(2));
  EXPECT_EQ(Json::parse(BoardJson(board))["now"]["state"], "waiting");
  PlayRound(board, 1, 2, 5);
  board.Write(At(5, Evaluated{RoundId{1}, EvaluatedWhere::kCentral, 0.5, 1.25, 100}));
  PlayRound(board, 2, 2, 9);

  const Json json = Json::parse(BoardJson(board));
  EXPECT_EQ(json["run"]["model"], "cnn");
  EXPECT_EQ(json["run"]["target"], 0.9);
  const Json& now = json["now"];
  EXPECT_EQ(now["state"], "running");
  EXPECT_EQ(now["round"], 2);
  EXPECT_EQ(now["time_s"], 9);
  EXPECT_EQ(now["accuracy"], 0.5);
  EXPECT_EQ(now["bytes_down"], 400);
  EXPECT_EQ(now["bytes_up"], 160);
  EXPECT_EQ(now["dense_bytes_up"], 1600);
  EXPECT_DOUBLE_EQ(now["waiting_share"].get<double>(), 0.2);  // 2 s of 10
  EXPECT_EQ(now["applied"], 4);
  EXPECT_EQ(json["rounds"]["round"], Json({1, 2}));
  EXPECT_EQ(json["rounds"]["bytes"], Json({280, 560}));
  EXPECT_EQ(json["rounds"]["bytes_up"], Json({80, 80}));
  EXPECT_EQ(json["rounds"]["train_loss"], Json({1.0, 0.5}));
  EXPECT_EQ(json["rounds"]["kept"], Json({nullptr, nullptr}));
  // Shares of all are 30/80 and 50/80; of the batches (3/4 + 0)/2 and (1/4 + 1)/2.
  EXPECT_DOUBLE_EQ(json["rounds"]["deviation"][0].get<double>(), 0.0);
  EXPECT_EQ(json["evaluations"]["bytes"], Json({280}));
  EXPECT_EQ(json["devices"]["name"], Json({"pi", ""}));
  EXPECT_EQ(json["devices"]["group"], Json({"weak", "strong"}));
  EXPECT_EQ(json["devices"]["applied"], Json({2, 2}));
  EXPECT_EQ(json["devices"]["bytes_up"], Json({80, 80}));
  EXPECT_EQ(json["devices"]["compute_s"], Json({5.0, 5.0}));
  EXPECT_EQ(json["classes"]["counts"], Json({{30, 10}, {0, 40}}));
  EXPECT_EQ(json["front"][0]["cost"], 0.5);
  EXPECT_EQ(json["panels"], Json({"compression"}));
}

TEST(Board, MeasuresHowFarABatchIsFromAllClasses) {
  Board board;
  board.Describe(TwoDevices());
  board.Write(Started(2));
  board.Write(At(0, RoundStarted{RoundId{1}, 1}));
  board.Write(At(1, Finished(1, 1)));  // all of class 1, of which there are 50 of 80
  board.Write(At(1, RoundFinished{RoundId{1}}));
  EXPECT_DOUBLE_EQ(*board.rounds.points()[0].deviation, 30.0 / 80);
}

TEST(Board, KnowsWhoIsBusyAndWhoIsGone) {
  Board board;
  board.Write(Started(3));
  const auto states = [&] { return Json::parse(DevicesJson(board))["state"]; };
  EXPECT_EQ(states(), Json({"waiting", "waiting", "waiting"}));
  board.Write(At(0, RoundStarted{RoundId{1}, 3}));
  EXPECT_EQ(states(), Json({"busy", "busy", "busy"}));
  board.Write(At(1, Finished(1, 0)));
  DeviceFinished lost = Finished(1, 1);
  lost.outcome = Outcome::kLost;
  board.Write(At(1, lost));
  EXPECT_EQ(states(), Json({"done", "gone", "busy"}));
  board.Write(At(2, RoundFinished{RoundId{1}}));
  EXPECT_EQ(states(), Json({"waiting", "gone", "waiting"}));
  board.Write(At(2, RoundStarted{RoundId{2}, 3}));
  EXPECT_EQ(states(), Json({"busy", "busy", "busy"}));
}

TEST(Board, TakesARealFleetsWordForWhatDevicesDo) {
  Board board;
  board.Write(Started(2));
  board.SetState(0, "computing");
  board.SetState(1, "gone");
  board.Write(At(0, RoundStarted{RoundId{1}, 2}));
  board.Write(At(1, Finished(1, 1)));
  EXPECT_EQ(Json::parse(DevicesJson(board))["state"], Json({"computing", "gone"}));
}

TEST(Board, StaysSmallWhateverTheLengthOfTheRun) {
  Board board;
  board.Write(Started(3000, 20'000));
  for (std::uint64_t round = 1; round <= 20'000; ++round) {
    PlayRound(board, round, 1, static_cast<double>(round));
    board.Write(
        At(static_cast<double>(round), Evaluated{RoundId{round}, EvaluatedWhere::kCentral, 0.5, 1, 10}));
    board.Write(At(static_cast<double>(round), Note{std::string(5000, 'n')}));
  }
  board.Write(At(20'000, Finished(20'000, 2999)));
  const std::string text = BoardJson(board);
  EXPECT_LT(text.size(), 600'000u);
  const Json json = Json::parse(text);
  EXPECT_LE(json["rounds"]["round"].size(), Board::kMostPoints);
  EXPECT_GE(json["rounds"]["round"].size(), Board::kMostPoints / 2);
  EXPECT_EQ(json["rounds"]["round"].back(), 20'000);
  EXPECT_EQ(json["evaluations"]["round"].back(), 20'000);
  EXPECT_EQ(json["devices"]["id"].size(), Board::kMostShown);
  EXPECT_EQ(json["devices"]["left_out"], 2000);
  EXPECT_EQ(json["notes"].size(), Board::kMostNotes);
}

TEST(Board, SaysWhatIsNoNumberAsUnknown) {
  Board board;
  board.Write(Started(1));
  DeviceFinished device = Finished(1, 0);
  device.loss = std::numeric_limits<double>::infinity();
  device.reason = "\xff<b>";
  board.Write(At(1, device));
  board.Write(At(1, Evaluated{RoundId{1}, EvaluatedWhere::kCentral, 0.1, std::nan(""), 10}));
  const Json json = Json::parse(BoardJson(board));
  EXPECT_TRUE(json["devices"]["loss"][0].is_null());
  EXPECT_TRUE(json["now"]["loss"].is_null());
  EXPECT_EQ(json["devices"]["reason"][0], "\xEF\xBF\xBD<b>");
}

TEST(Board, ShowsWhatDevicesMeasureUntilTheCoordinatorDoes) {
  Board board;
  board.Write(Started(1));
  board.Write(At(1, Evaluated{RoundId{1}, EvaluatedWhere::kDevices, 0.2, 2, 10}));
  EXPECT_EQ(Json::parse(BoardJson(board))["evaluations"]["accuracy"], Json({0.2}));
  board.Write(At(2, Evaluated{RoundId{2}, EvaluatedWhere::kDevices, 0.25, 2, 10}));
  board.Write(At(2, Evaluated{RoundId{2}, EvaluatedWhere::kCentral, 0.3, 1, 10}));
  board.Write(At(3, Evaluated{RoundId{3}, EvaluatedWhere::kDevices, 0.4, 2, 10}));
  EXPECT_EQ(Json::parse(BoardJson(board))["evaluations"]["accuracy"], Json({0.3}));
  EXPECT_EQ(Json::parse(BoardJson(board))["now"]["accuracy"], 0.3);
  EXPECT_EQ(board.replaced, 1u);
}

TEST(Board, TakesAnyNumbersThatALogMaySay) {
  Board board;
  RunMetadata metadata = TwoDevices();
  metadata.dense_update = {std::numeric_limits<std::int64_t>::max()};
  board.Describe(metadata);
  board.Write(Started(2));
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (std::uint64_t i = 0; i < 2; ++i) {
      DeviceFinished device = Finished(round, i);
      device.up = device.down = device.relayed = {std::numeric_limits<std::int64_t>::max()};
      device.wait = Duration::max();
      board.Write(At(1, device));
    }
    RoundFinished ended{RoundId{round}};
    ended.duration = Duration::max();
    ended.bytes_up = ended.bytes_down = ended.bytes_injected = {std::numeric_limits<std::int64_t>::max()};
    board.Write(At(1, ended));
  }
  EXPECT_EQ(Json::parse(NowJson(board))["bytes_up"], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Json::parse(BoardJson(board))["rounds"]["bytes"][1], std::numeric_limits<std::int64_t>::max());
}

TEST(Board, EndsWithTheRun) {
  Board board;
  board.Write(Started(1));
  PlayRound(board, 1, 1, 2);
  board.Write(At(3, RunFinished{1, RunEnd::kTarget, 0.75}));
  const Json now = Json::parse(NowJson(board));
  EXPECT_EQ(now["state"], "finished");
  EXPECT_EQ(now["ended_by"], "target");
  EXPECT_EQ(now["accuracy"], 0.75);
}

TEST(BoardTypes, ThePageReadsWhatTheProgramWrites) {
  const std::filesystem::path path = std::filesystem::path(TRIBUTARY_SOURCE_DIR) / "web/src/figures.ts";
  if (std::getenv("TRIBUTARY_WRITE_TYPES") != nullptr) std::ofstream(path) << BoardTypes();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, BoardTypes()) << "TRIBUTARY_WRITE_TYPES=1 writes it anew";
}

}  // namespace
}  // namespace tributary::inline dashboard
