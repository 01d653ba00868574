#include "tributary/reproduce/harness.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>

#include "tributary/base/file.h"
#include "tributary/base/mutex.h"

namespace tributary::inline reproduce {
namespace {

Reproduction TwoArms() {
  Reproduction reproduction;
  reproduction.name = "test";
  reproduction.arms = {{"slow", "", "settings 1"}, {"fast", "", "settings 2"}};
  reproduction.metrics = {{"accuracy", "", Metric::Better::kHigher, {}}};
  return reproduction;
}

// Moved by runs on several threads, and read by the harness meanwhile.
class RunsClock : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(now_.load()); }
  void Advance(Duration by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ = 0;
};

class HarnessTest : public testing::Test {
 protected:
  HarnessTest() {
    options_.out = folder_ / "deep" / "out";
    options_.seeds = {1, 2, 3};
    options_.should_stop = [this] { return stop_after_.has_value() && made_.size() >= *stop_after_; };
    options_.progress = [this](const HarnessProgress& progress) { progress_.push_back(progress); };
    options_.notice = [this](const std::string& text) { notices_.push_back(text); };
  }
  ~HarnessTest() override { std::filesystem::remove_all(folder_); }

  // Runs with a runner that takes ten seconds for "slow" and two for "fast".
  StatusOr<HarnessOutcome> Run() {
    made_.clear();
    progress_.clear();
    notices_.clear();
    return RunReproduction(reproduction_, options_, clock_,
                           [this](const Arm& arm, std::uint64_t seed, std::span<const ArmResult> grid) {
                             return Make(arm, seed, grid);
                           });
  }

  StatusOr<Measurement> Make(const Arm& arm, std::uint64_t seed, std::span<const ArmResult> grid) {
    const MutexLock lock(mutex_);
    clock_.Advance(std::chrono::seconds(arm.name == "slow" ? 10 : 2));
    made_.push_back(arm.name + "-" + std::to_string(seed));
    if (made_.back() == fails_) return failure_;
    Measurement measurement = gives_;
    measurement.numbers.emplace("accuracy", 0.25 * static_cast<double>(seed));
    for (const ArmResult& result : grid) measurement.numbers.emplace("after " + result.arm, result.seed);
    return measurement;
  }

  std::filesystem::path PathOf(const std::string& name) const {
    return options_.out / "results" / (name + ".json");
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tributary_harness_test_" + std::to_string(::getpid()));
  Mutex mutex_;  // Runs are made by several threads.
  Reproduction reproduction_ = TwoArms();
  HarnessOptions options_;
  RunsClock clock_;
  Measurement gives_;
  std::optional<std::size_t> stop_after_;
  std::string fails_;
  Status failure_ = Unavailable("the link is down");
  std::vector<std::string> made_;
  std::vector<HarnessProgress> progress_;
  std::vector<std::string> notices_;
};

using Names = std::vector<std::string>;

TEST_F(HarnessTest, RunsAllArmsOfASeedBeforeTheNext) {
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(made_, (Names{"slow-1", "fast-1", "slow-2", "fast-2", "slow-3", "fast-3"}));
  EXPECT_FALSE(outcome->stopped);
  EXPECT_EQ(outcome->total, 6U);
  ASSERT_EQ(outcome->results.size(), 6U);
  EXPECT_EQ(outcome->results[3].arm, "fast");
  EXPECT_EQ(outcome->results[3].seed, 2U);
  EXPECT_EQ(outcome->results[3].measurement.numbers.at("accuracy"), 0.5);
  EXPECT_EQ(outcome->results[3].took, std::chrono::seconds(2));
  for (const std::string& name : made_) EXPECT_TRUE(std::filesystem::exists(PathOf(name))) << name;
  EXPECT_TRUE(notices_.empty());
}

TEST_F(HarnessTest, GoesOnWhereItWasStopped) {
  stop_after_ = 3;
  const auto first = Run();
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->stopped);
  EXPECT_EQ(first->results.size(), 3U);
  EXPECT_EQ(first->total, 6U);

  stop_after_.reset();
  const auto second = Run();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(made_, (Names{"fast-2", "slow-3", "fast-3"}));
  EXPECT_FALSE(second->stopped);
  EXPECT_EQ(second->results.size(), 6U);
  EXPECT_EQ(second->results[0].measurement.numbers, first->results[0].measurement.numbers);

  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(made_.empty());
}

TEST_F(HarnessTest, ARunThatGaveUpWhenAskedToIsNotAFailure) {
  fails_ = "slow-2";
  failure_ = Cancelled("interrupted");
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(outcome->results.size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(PathOf("slow-2")));
}

TEST_F(HarnessTest, StopsAtAFailureAndNamesTheRun) {
  fails_ = "slow-2";
  const auto outcome = Run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status(), Unavailable("arm 'slow', seed 2: the link is down"));
  fails_.clear();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(made_.size(), 4U);  // The two that were finished stay.
}

TEST_F(HarnessTest, MakesRunsOfChangedSettingsAgain) {
  ASSERT_TRUE(Run().ok());
  reproduction_.arms[1].fingerprint = "settings 3";
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(made_, (Names{"fast-1", "fast-2", "fast-3"}));
  ASSERT_EQ(notices_.size(), 3U);
  EXPECT_EQ(notices_[0], PathOf("fast-1").string() + " was made with other settings; the run is repeated.");
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(made_.empty());
}

TEST_F(HarnessTest, ReportsBrokenResultsByNameAndMakesTheirRunsAgain) {
  ASSERT_TRUE(Run().ok());
  std::ofstream(PathOf("slow-1")) << "{\"schema\": 1, \"arm\":";
  std::filesystem::copy_file(PathOf("fast-1"), PathOf("fast-3"),
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(PathOf("slow-2"), 100 << 20);
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(made_, (Names{"slow-1", "slow-2", "fast-3"}));
  EXPECT_EQ(outcome->results.size(), 6U);
  ASSERT_EQ(notices_.size(), 3U);
  EXPECT_NE(notices_[0].find(PathOf("slow-1").string() + ": it is not valid JSON"), std::string::npos);
  EXPECT_NE(notices_[1].find(PathOf("slow-2").string() + " is larger than"), std::string::npos)
      << notices_[1];
  EXPECT_NE(notices_[2].find("the arm 'fast' with seed 1, contrary to its name"), std::string::npos);
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(made_.empty());
}

TEST_F(HarnessTest, TellsTheTimeLeftFromRunsOfTheSameArm) {
  options_.seeds = {1, 2};
  ASSERT_TRUE(Run().ok());
  using Event = HarnessProgress::Event;
  ASSERT_EQ(progress_.size(), 8U);
  EXPECT_EQ(progress_[0].event, Event::kStarted);
  EXPECT_EQ(progress_[0].left, std::nullopt);
  EXPECT_EQ(progress_[0].total, 4U);
  // After one run of "slow": three more as long as that. After one of each: 10 s and 2 s.
  EXPECT_EQ(progress_[1].event, Event::kFinished);
  EXPECT_EQ(progress_[1].done, 1U);
  EXPECT_EQ(progress_[1].left, std::chrono::seconds(30));
  EXPECT_EQ(progress_[3].left, std::chrono::seconds(12));
  EXPECT_EQ(progress_[7].left, std::chrono::seconds(0));

  // What earlier runs took counts when going on.
  options_.seeds = {1, 2, 3};
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(progress_[0].event, Event::kReused);
  EXPECT_EQ(progress_[4].event, Event::kStarted);
  EXPECT_EQ(progress_[4].arm, "slow");
  EXPECT_EQ(progress_[4].seed, 3U);
  EXPECT_EQ(progress_[4].done, 4U);
  EXPECT_EQ(progress_[4].left, std::chrono::seconds(12));
}

TEST_F(HarnessTest, CountsWhatIsNotANumberAsMissing) {
  options_.seeds = {1};
  gives_.numbers["loss"] = std::nan("");
  gives_.curve = {{0, 1}, {1, std::numeric_limits<double>::infinity()}};
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_FALSE(outcome->results[0].measurement.numbers.contains("loss"));
  EXPECT_EQ(outcome->results[0].measurement.curve.size(), 1U);
  ASSERT_EQ(notices_.size(), 4U);
  EXPECT_NE(notices_[0].find("'slow' with seed 1, 'loss' came out infinite"), std::string::npos);
}

TEST_F(HarnessTest, RefusesACurveThatGoesBack) {
  gives_.curve = {{1, 0}, {0, 0}};
  const auto outcome = Run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.status().message().find("arm 'slow', seed 1: point 1 of its curve"), std::string::npos);
}

TEST_F(HarnessTest, RefusesWhatMakesNoSenseBeforeAnyRun) {
  options_.seeds = {};
  EXPECT_EQ(Run().status().code(), StatusCode::kInvalidArgument);
  options_.seeds = {4, 4};
  EXPECT_EQ(Run().status().code(), StatusCode::kInvalidArgument);
  options_.seeds = {4};
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  options_.out = folder_ / "file";
  EXPECT_FALSE(Run().ok());
  reproduction_.arms[0].name = "../slow";
  EXPECT_EQ(Run().status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(made_.empty());
}

TEST_F(HarnessTest, HasTheSameResultsInTheSameOrderWithManyThreads) {
  const auto one = Run();
  ASSERT_TRUE(one.ok());
  options_.out = folder_ / "threads";
  options_.threads = 4;
  const auto many = Run();
  ASSERT_TRUE(many.ok());
  EXPECT_EQ(made_.size(), 6U);
  ASSERT_EQ(many->results.size(), one->results.size());
  for (std::size_t i = 0; i < one->results.size(); ++i) {
    EXPECT_EQ(many->results[i].arm, one->results[i].arm);
    EXPECT_EQ(many->results[i].seed, one->results[i].seed);
    EXPECT_EQ(many->results[i].measurement.numbers, one->results[i].measurement.numbers);
  }
  EXPECT_EQ(progress_.back().done, 6U);
  EXPECT_EQ(progress_.back().left, std::chrono::seconds(0));
}

TEST_F(HarnessTest, MakesTheGridFirstAndHandsItsResultsToAllOthers) {
  reproduction_.arms[1].grid = true;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(made_, (Names{"fast-1", "slow-1", "slow-2", "fast-2", "slow-3", "fast-3"}));
  EXPECT_EQ(outcome->results[0].arm, "slow");
  EXPECT_EQ(outcome->results[0].measurement.numbers.at("after fast"), 1);
  EXPECT_FALSE(outcome->results[1].measurement.numbers.contains("after fast"));
  std::filesystem::remove(PathOf("slow-3"));
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(made_, (Names{"slow-3"}));  // The kept result of the grid will do.
  options_.seeds = {2, 3};
  EXPECT_EQ(Run().status().message(), "a grid needs seed 1, which is not among the seeds");
}

TEST_F(HarnessTest, ShardsAreMergedIntoWhatOneRunHas) {
  reproduction_.arms[0].grid = true;
  const auto whole = Run();
  ASSERT_TRUE(whole.ok());
  std::size_t made = 0;
  std::vector<std::filesystem::path> folders;
  for (const std::size_t index : {1, 2}) {
    options_.out = folder_ / std::to_string(index);
    options_.shard = {index, 2};
    ASSERT_TRUE(Run().ok());
    EXPECT_EQ(made_.front(), "slow-1");
    made += made_.size();
    folders.push_back(options_.out);
  }
  EXPECT_EQ(made, 7U);  // The grid twice.
  options_.shard = {};
  options_.merge = folders;
  options_.out = folder_ / "merged";
  const auto merged = Run();
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_TRUE(made_.empty());
  ASSERT_EQ(merged->results.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(merged->results[i].arm, whole->results[i].arm);
    EXPECT_EQ(merged->results[i].measurement.numbers, whole->results[i].measurement.numbers);
  }
  EXPECT_TRUE(std::filesystem::exists(PathOf("fast-3")));
}

TEST_F(HarnessTest, RefusesToMergeWhatIsMissingOrContradictsItself) {
  ASSERT_TRUE(Run().ok());
  const std::filesystem::path whole = options_.out;
  options_.out = folder_ / "other";
  options_.merge = {folder_ / "nowhere"};
  EXPECT_NE(Run().status().message().find("nowhere has no folder 'results'"), std::string::npos);
  options_.merge = {whole};
  std::filesystem::rename(whole / "results" / "fast-2.json", folder_ / "kept");
  EXPECT_NE(Run().status().message().find(
                "1 of 6 runs have no result in any folder, the first of them arm 'fast', seed 2"),
            std::string::npos);
  std::filesystem::rename(folder_ / "kept", whole / "results" / "fast-2.json");
  ASSERT_TRUE(Run().ok());
  auto changed = ReadArmResult(PathOf("slow-1")).value();
  changed.measurement.numbers["accuracy"] = 0.9;
  ASSERT_TRUE(WriteArmResult(PathOf("slow-1"), changed).ok());
  EXPECT_NE(Run().status().message().find("differs from another result of arm 'slow', seed 1"),
            std::string::npos);
  EXPECT_TRUE(made_.empty());
  options_.merge.clear();
  options_.shard = {3, 2};
  EXPECT_EQ(Run().status().message(), "there is no shard 3 of 2");
}

}  // namespace
}  // namespace tributary::inline reproduce
