#include "tributary/store/run_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tributary/base/rng.h"
#include "tributary/store/run_writer.h"
#include "tributary/store/schema.h"
#include "tributary/store/testing_runs.h"
#include "tributary/telemetry/event_json.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

// Writes events as a run of this name into the store; returns its number.
std::int64_t Record(const std::filesystem::path& store, RunWriter::Origin origin,
                    const std::vector<Event>& events, WallTime now = 1000s) {
  RunFollower follower({"slow", "fast"});
  auto writer = RunWriter::Open(store, std::move(origin), 1s);
  EXPECT_TRUE(writer.ok()) << writer.status();
  WriteAll(follower, events);
  const Status status = (*writer)->Write(follower, now, true);
  EXPECT_TRUE(status.ok()) << status;
  return (*writer)->run();
}

std::unique_ptr<RunStore> OpenedStore(const std::filesystem::path& path, WallTime now = 2000s) {
  auto store = RunStore::Open(path, [now] { return now; });
  EXPECT_TRUE(store.ok()) << store.status();
  return std::move(*store);
}

TEST(RunStore, WhatWasRecordedReadsBack) {
  const TestFolder folder;
  const std::int64_t id =
      Record(folder / "s", {.name = "test-7", .folder = "/runs/test-7", .toml = "x = 1"}, TestRun(5, 3));
  const auto store = OpenedStore(folder / "s");
  const auto runs = store->Runs(10);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 1U);
  const RunRecord& run = runs->front();
  EXPECT_EQ(run.id, id);
  EXPECT_EQ(run.name, "test-7");
  EXPECT_EQ(run.folder, "/runs/test-7");
  EXPECT_EQ(run.what, std::get<RunStarted>(TestRun(5, 3).front().what));
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run.started, 1000s);
  EXPECT_EQ(run.finished, 1000s);
  EXPECT_EQ(run.rounds, 5U);
  EXPECT_EQ(run.time, 50s);
  EXPECT_EQ(run.accuracy, 0.05);
  EXPECT_EQ(run.down, Bytes{1500});
  EXPECT_DOUBLE_EQ(run.waiting_share().value(), 0.1);
  EXPECT_EQ(store->Experiment(id).value(), "x = 1");

  const auto rounds = store->Rounds(id, 100).value();
  ASSERT_EQ(rounds.size(), 5U);
  EXPECT_EQ(rounds[1].first, RoundId{2});
  EXPECT_EQ(rounds[1].end, 20s);
  EXPECT_EQ(rounds[1].train_loss->mean, 0.5);
  EXPECT_DOUBLE_EQ(rounds[1].waiting->mean, 0.1);
  EXPECT_EQ(store->Rounds(id, 100, 3).value().size(), 2U);
  EXPECT_EQ(store->Rounds(id, 2).value().size(), 2U);
  const auto evaluations = store->Evaluations(id, 100).value();
  ASSERT_EQ(evaluations.size(), 5U);
  EXPECT_EQ(evaluations[2].evaluated, (Evaluated{.round = {3}, .accuracy = 0.03, .loss = 0.5, .samples = 9}));
  EXPECT_EQ(evaluations[2].down, Bytes{900});
  EXPECT_EQ(store->Evaluations(id, 2).value().size(), 2U);
  const auto devices = store->Devices(id).value();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[1].group, "fast");
  EXPECT_EQ(devices[1].outcome, Outcome::kLate);
  EXPECT_EQ(devices[1].reason, "slow");
  EXPECT_EQ(devices[2].wait, 10s);
  ASSERT_EQ(store->DetailedRounds(id).value().size(), 5U);
  const auto detail = store->DevicesIn(id, {5}).value();
  ASSERT_EQ(detail.size(), 3U);
  EXPECT_EQ(detail[2].wait, 2s);
  EXPECT_EQ(store->DevicesIn(id, {99}).status().code(), StatusCode::kNotFound);
}

TEST(RunStore, DetailsOfTheLastRoundsAreKept) {
  const TestFolder folder;
  RunFollower follower;
  auto writer = RunWriter::Open(folder / "s", {.name = "n"}, 1s).value();
  for (const Event& event : TestRun(200, 2)) {
    follower.Write(event);
    if (std::holds_alternative<RoundFinished>(event.what)) {
      ASSERT_TRUE(writer->Write(follower, 1s, false).ok());
    }
  }
  const auto rounds = OpenedStore(folder / "s")->DetailedRounds(writer->run()).value();
  ASSERT_EQ(rounds.size(), kRecentRounds);
  EXPECT_EQ(rounds.front(), RoundId{200 - kRecentRounds + 1});
  EXPECT_EQ(rounds.back(), RoundId{200});
}

TEST(RunStore, NumbersThatAreNoneAreKept) {
  const TestFolder folder;
  std::vector<Event> events = TestRun(1, 1, false);
  events.push_back({20s, RoundFinished{.round = {2}, .train_loss = NAN}});
  events.push_back({20s, Evaluated{.round = {2}, .accuracy = 0.1, .loss = INFINITY}});
  const std::int64_t id = Record(folder / "s", {.name = "n"}, events);
  const auto store = OpenedStore(folder / "s");
  EXPECT_EQ(store->Evaluations(id, 10).value().back().evaluated.loss, INFINITY);
  EXPECT_EQ(store->Find("last")->loss, INFINITY);
}

TEST(RunStore, RunsAreFoundByWhatPeopleCallThem) {
  const TestFolder folder;
  const std::int64_t first =
      Record(folder / "s", {.name = "default-1", .folder = (folder / "default-1").string()}, TestRun(1, 1));
  const std::int64_t second = Record(folder / "s", {.name = "default-2"}, TestRun(1, 1));
  const std::int64_t third = Record(folder / "s", {.name = "other"}, TestRun(1, 1));
  const std::int64_t again = Record(folder / "s", {.name = "other"}, TestRun(1, 1));
  const auto store = OpenedStore(folder / "s");
  EXPECT_EQ(store->Find("last")->id, again);
  EXPECT_EQ(store->Find(std::to_string(third))->id, third);
  EXPECT_EQ(store->Find("default-2")->id, second);
  EXPECT_EQ(store->Find("other")->id, again);
  EXPECT_EQ(store->Find("oth")->id, again);
  EXPECT_EQ(store->Find((folder / "default-1").string())->id, first);
  EXPECT_EQ(store->Find("default").status().code(), StatusCode::kInvalidArgument);
  const auto unknown = store->Find("defualt-1");
  EXPECT_NE(unknown.status().message().find("did you mean 'default-1'"), std::string::npos)
      << unknown.status();
  EXPECT_EQ(store->Find("").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(store->Find("999").status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(store->Remove(second).ok());
  EXPECT_EQ(store->Find("default")->id, first);
  EXPECT_TRUE(store->Rounds(second, 10).value().empty());
  EXPECT_EQ(store->Remove(second).code(), StatusCode::kNotFound);
}

TEST(RunStore, ARunWhoseProcessIsGoneHasDied) {
  const TestFolder folder;
  Record(folder / "s", {.name = "alive", .process = ThisProcess()}, TestRun(2, 1, false));
  Record(folder / "s", {.name = "dead", .process = "nowhere\nb\n1\n1"}, TestRun(2, 1, false));
  EXPECT_EQ(OpenedStore(folder / "s")->Find("alive")->state, RunState::kRunning);
  EXPECT_EQ(OpenedStore(folder / "s")->Find("dead")->state, RunState::kDied);
  EXPECT_EQ(OpenedStore(folder / "s", 1010s)->Find("dead")->state, RunState::kRunning);
  EXPECT_EQ(OpenedStore(folder / "s")->Remove(1).code(), StatusCode::kInvalidArgument);
}

TEST(RunStore, AResumedRunStaysTheSameAndANewOneInItsPlaceDoesNot) {
  const TestFolder folder;
  const std::int64_t first = Record(folder / "s", {.name = "r", .folder = "/r"}, TestRun(3, 1, false), 1000s);
  EXPECT_EQ(Record(folder / "s", {.name = "r", .folder = "/r", .resumed = true}, TestRun(2, 1), 5000s),
            first);
  auto store = OpenedStore(folder / "s");
  EXPECT_EQ(store->Find("r")->started, 1000s);
  EXPECT_EQ(store->Rounds(first, 10).value().size(), 2U);
  const std::int64_t other = Record(folder / "s", {.name = "r", .folder = "/r"}, TestRun(1, 1), 6000s);
  EXPECT_NE(other, first);
  EXPECT_EQ(store->Find("/r")->id, other);
  EXPECT_EQ(store->Find(std::to_string(first))->folder, "");
}

TEST(ImportRun, TakesInARunFolderAndTakesItInAgain) {
  const TestFolder folder;
  const auto run = folder / "some-run";
  std::filesystem::create_directories(run);
  {
    std::ofstream log(run / "events.jsonl");
    for (const Event& event : TestRun(4, 2)) log << EventToJson(event) << "\n";
  }
  const auto id = ImportRun(folder / "s", run);
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(ImportRun(folder / "s", run).value(), *id);
  const auto store = OpenedStore(folder / "s");
  EXPECT_EQ(store->Runs(10).value().size(), 1U);
  EXPECT_EQ(store->Find(run.string())->state, RunState::kFinished);
  EXPECT_EQ(store->Find("some-run")->accuracy, 0.04);
  EXPECT_EQ(ImportRun(folder / "s", folder / "none").status().code(), StatusCode::kNotFound);
}

TEST(ImportRun, LeavesARunThatGoesOnAlone) {
  const TestFolder folder;
  const auto run = folder / "some-run";
  std::filesystem::create_directories(run);
  {
    std::ofstream log(run / "events.jsonl");
    for (const Event& event : TestRun(4, 2, false)) log << EventToJson(event) << "\n";
  }
  Record(folder / "s", {.name = "some-run", .folder = run.string(), .process = ThisProcess()},
         TestRun(3, 1, false));
  EXPECT_EQ(ImportRun(folder / "s", run).status().code(), StatusCode::kInvalidArgument);
}

// Everything that can be asked; whatever the answers, they come.
void AskEverything(const std::filesystem::path& path, int& refused) {
  auto store = RunStore::Open(path, [] { return WallTime(0); });
  if (!store.ok()) {
    ++refused;
    EXPECT_FALSE(store.status().message().empty());
    return;
  }
  const auto runs = (*store)->Runs(100);
  bool ok = runs.ok();
  ok = (*store)->Find("test").ok() && ok;
  for (const std::int64_t id : {1, 2}) {
    ok = (*store)->Experiment(id).ok() && ok;
    ok = (*store)->Rounds(id, 7).ok() && ok;
    ok = (*store)->Evaluations(id, 7).ok() && ok;
    ok = (*store)->Devices(id).ok() && ok;
    ok = (*store)->Notes(id).ok() && ok;
    const auto detailed = (*store)->DetailedRounds(id);
    if (!detailed.ok()) continue;
    for (const RoundId round : *detailed) ok = (*store)->DevicesIn(id, round).ok() && ok;
  }
  if (!ok) ++refused;
}

TEST(RunStore, ADamagedFileIsRefusedOrRead) {
  const TestFolder folder;
  Record(folder / "s", {.name = "test", .toml = "x"}, TestRun(30, 3));
  Record(folder / "s", {.name = "other", .process = ThisProcess()}, TestRun(5, 2, false));
  std::string bytes;
  {
    std::ostringstream text;
    text << std::ifstream(folder / "s", std::ios::binary).rdbuf();
    bytes = text.str();
  }
  ASSERT_GT(bytes.size(), 8192U);
  Rng rng(11);
  int refused = 0, tried = 0;
  const auto attempt = [&](const std::string& damaged) {
    std::filesystem::remove(folder / "d-wal");
    std::filesystem::remove(folder / "d-shm");
    std::ofstream(folder / "d", std::ios::binary) << damaged;
    AskEverything(folder / "d", refused);
    ++tried;
  };
  attempt(bytes);
  EXPECT_EQ(refused, 0);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = bytes;
    // Half of them in the first page, which says what the others are.
    const std::size_t most = i % 2 == 0 ? 4096 : bytes.size();
    for (std::uint64_t flips = 1 + rng.Below(8); flips > 0; --flips) {
      damaged[rng.Below(most)] ^= static_cast<char>(1 + rng.Below(255));
    }
    attempt(damaged);
  }
  for (int i = 0; i < 50; ++i) attempt(bytes.substr(0, rng.Below(bytes.size())));
  attempt("");
  EXPECT_GT(refused, tried / 4);
  EXPECT_LT(refused, tried);
}

}  // namespace
}  // namespace tributary::inline store
