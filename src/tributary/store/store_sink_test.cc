#include "tributary/store/store_sink.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "tributary/store/database.h"
#include "tributary/store/run_store.h"
#include "tributary/store/schema.h"
#include "tributary/store/testing_runs.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<StoreSink> Opened(const std::filesystem::path& store, const char* name = "test") {
  auto sink = StoreSink::Create({.store = store, .name = name, .groups = {"slow", "fast"}});
  EXPECT_TRUE(sink.ok()) << sink.status();
  return std::move(*sink);
}

RunRecord LastRun(const std::filesystem::path& store) {
  auto opened = RunStore::Open(store);
  EXPECT_TRUE(opened.ok()) << opened.status();
  return (*opened)->Find("last").value();
}

TEST(StoreSink, RecordsARun) {
  const TestFolder folder;
  const auto sink = Opened(folder / "new-folder/s");
  WriteAll(*sink, TestRun(50, 3));
  sink->NameGroups({"a", "b", "c"});
  EXPECT_TRUE(sink->Close().ok());
  EXPECT_TRUE(sink->Close().ok());
  const RunRecord run = LastRun(folder / "new-folder/s");
  EXPECT_EQ(run.id, sink->run());
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run.rounds, 50U);
  EXPECT_EQ(run.missed_events, 0U);
  const auto store = RunStore::Open(folder / "new-folder/s").value();
  EXPECT_EQ(store->Rounds(run.id, 100).value().size(), 50U);
  EXPECT_EQ(store->Devices(run.id).value().at(2).group, "c");
}

TEST(StoreSink, TheFileIsItsOwnersAlone) {
  const TestFolder folder;
  const mode_t before = ::umask(0);
  const auto sink = Opened(folder / "s");
  ::umask(before);
  WriteAll(*sink, TestRun(3, 2));
  EXPECT_TRUE(sink->Close().ok());
  EXPECT_EQ(std::filesystem::status(folder / "s").permissions(), std::filesystem::perms(0600));
}

TEST(StoreSink, ARunCanBeWatchedWhileItGoesOn) {
  const TestFolder folder;
  const auto sink = Opened(folder / "s");
  WriteAll(*sink, TestRun(2, 1, /*finished=*/false));
  // Written within a quarter of a second or so; the test is patient.
  for (int i = 0; i < 1000 && sink->run() == 0; ++i) std::this_thread::sleep_for(10ms);
  const RunRecord run = LastRun(folder / "s");
  EXPECT_EQ(run.state, RunState::kRunning);
  EXPECT_EQ(run.rounds, 2U);
}

TEST(StoreSink, ARunThatNeverSaidHowItEndedHasFailed) {
  const TestFolder folder;
  WriteAll(*Opened(folder / "s"), TestRun(2, 1, /*finished=*/false));
  EXPECT_EQ(LastRun(folder / "s").state, RunState::kFailed);
}

TEST(StoreSink, NothingIsRecordedOfARunThatNeverBegan) {
  const TestFolder folder;
  EXPECT_TRUE(Opened(folder / "s")->Close().ok());
  EXPECT_TRUE(RunStore::Open(folder / "s").value()->Runs(10).value().empty());
}

TEST(StoreSink, AStoreThatIsLockedForAWhileCostsNothing) {
  const TestFolder folder;
  const auto sink = Opened(folder / "s");
  const auto other = Database::Open(folder / "s", Database::Access::kCreate, 1s).value();
  ASSERT_TRUE(other->Execute("BEGIN IMMEDIATE").ok());
  WriteAll(*sink, TestRun(300, 3));
  std::this_thread::sleep_for(600ms);  // It tries meanwhile.
  EXPECT_EQ(sink->run(), 0);
  ASSERT_TRUE(other->Execute("COMMIT").ok());
  EXPECT_TRUE(sink->Close().ok());
  const RunRecord run = LastRun(folder / "s");
  EXPECT_EQ(run.rounds, 300U);
  EXPECT_EQ(RunStore::Open(folder / "s").value()->Rounds(run.id, 1000).value().size(), 300U);
}

TEST(StoreSink, AFailureIsToldAtTheEndAndStopsNothing) {
  const TestFolder folder;
  const auto sink = Opened(folder / "s");
  ASSERT_TRUE(
      Database::Open(folder / "s", Database::Access::kCreate, 1s).value()->Execute("DROP TABLE rounds").ok());
  WriteAll(*sink, TestRun(300, 3));
  EXPECT_EQ(sink->Close().code(), StatusCode::kCorrupt);
}

TEST(StoreSink, SaysAtOnceWhereItCannotRecord) {
  EXPECT_FALSE(StoreSink::Create({.store = "/proc/none/s"}).ok());
  EXPECT_FALSE(StoreSink::Create({.store = "/dev/null"}).ok());
}

// While its thread cannot write, more events come than fit: rounds and evaluations are kept, devices' counted.
TEST(StoreSink, RoundsAreKeptWhenDevicesAreTooMany) {
  const TestFolder folder;
  const auto sink = Opened(folder / "s");
  const std::uint64_t devices = 1000, rounds = 300;
  WriteAll(*sink, TestRun(rounds, devices));
  EXPECT_TRUE(sink->Close().ok());
  const RunRecord run = LastRun(folder / "s");
  const auto store = RunStore::Open(folder / "s").value();
  EXPECT_EQ(store->Rounds(run.id, 1000).value().size(), rounds);
  EXPECT_EQ(store->Evaluations(run.id, 1000).value().size(), rounds);
  std::uint64_t seen = 0;
  const auto found = store->Devices(run.id).value();
  for (const DeviceRecord& device : found) seen += device.applied + device.missed;
  EXPECT_EQ(seen + run.missed_events, rounds * devices);
}

}  // namespace
}  // namespace tributary::inline store
