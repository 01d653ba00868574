#include "tributary/data/stream_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "tributary/base/rng.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;

// A stream that is told what has come, and remembers what was asked of it. Its positions have holes where `hole` says so.
class ScriptedStream : public Stream {
 public:
  struct Script {
    std::atomic<std::int64_t> end{0};  // positions below it have come
    std::atomic<std::int64_t> committed{-1};
    std::atomic<int> seeks{0};
    std::function<bool(std::int64_t)> hole = [](std::int64_t) { return false; };
  };
  explicit ScriptedStream(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  void Poll(TimePoint, const PollLimits& limits, std::vector<StreamSample>& out) override {
    for (std::size_t i = 0; i < limits.samples && next_ < script_->end; ++next_) {
      if (script_->hole(next_)) continue;
      out.push_back(
          {.position = next_, .label = static_cast<std::int32_t>(next_ % 10), .payload = {std::byte{1}}});
      ++i;
    }
  }
  Status Seek(std::int64_t position) override {
    EXPECT_GT(position, script_->committed) << "sought to what was given up";
    next_ = position;
    ++script_->seeks;
    return OkStatus();
  }
  void Commit(std::int64_t position) override {
    script_->committed = std::max(position, script_->committed.load());
  }
  StreamState state() const override { return {StreamPhase::kConnected, ""}; }
  std::optional<std::string> TakeNews() override { return std::nullopt; }
  StreamCounts counts() const override { return {}; }
  void Close() override {}

 private:
  std::shared_ptr<Script> script_;
  std::int64_t next_ = 0;
};

class StreamSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "stream_source_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<StreamSource> Make(bool persist = true, std::int64_t hand = 64'000'000,
                                     std::int64_t memory = 1000) {
    StreamSourceOptions options{.hand = Bytes{hand}};
    if (persist) options.persist = PersistOptions{.memory = Bytes{memory}, .folder = folder_ / "waiting"};
    return std::make_unique<StreamSource>(std::move(options), std::make_unique<ScriptedStream>(script_),
                                          *clock_);
  }
  static std::vector<std::int64_t> Positions(const StatusOr<std::vector<StreamSample>>& samples) {
    std::vector<std::int64_t> positions;
    if (!samples.ok()) return positions;
    for (const StreamSample& sample : *samples) positions.push_back(sample.position);
    return positions;
  }
  static std::vector<std::int64_t> Range(std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> range(static_cast<std::size_t>(count));
    std::iota(range.begin(), range.end(), first);
    return range;
  }

  std::filesystem::path folder_;
  std::unique_ptr<Clock> clock_ = MakeRealClock();
  std::shared_ptr<ScriptedStream::Script> script_ = std::make_shared<ScriptedStream::Script>();
};

TEST_F(StreamSourceTest, GivesTheSameUntilItIsSoughtFurther) {
  script_->end = 100;
  const auto source = Make();
  ASSERT_TRUE(source->Seek(0).ok());
  EXPECT_EQ(Positions(source->Take(10, {})), Range(0, 10));
  EXPECT_EQ(Positions(source->Take(10, {})), Range(0, 10));  // It was late.
  EXPECT_EQ(Positions(source->Take(4, {})), Range(0, 4));
  ASSERT_TRUE(source->Seek(4).ok());
  EXPECT_EQ(Positions(source->Take(10, {})), Range(4, 10));
  ASSERT_TRUE(source->Seek(14).ok());
  EXPECT_EQ(Positions(source->Take(20, {})), Range(14, 20));
  EXPECT_EQ(script_->seeks, 1);  // All of that was in hand.
}

TEST_F(StreamSourceTest, ReadsAgainWhatIsNotInHand) {
  script_->end = 1000;
  const auto source = Make(true, /*hand=*/10);
  for (std::int64_t at = 0; at < 600; at += 50) {
    ASSERT_TRUE(source->Seek(at).ok());
    ASSERT_EQ(Positions(source->Take(50, {})), Range(at, 50));
  }
  ASSERT_TRUE(source->Seek(100).ok());  // A coordinator that had lost it all.
  EXPECT_EQ(Positions(source->Take(50, {})), Range(100, 50));
  ASSERT_TRUE(source->Seek(900).ok());  // A device that had lost its place.
  EXPECT_EQ(Positions(source->Take(50, {})), Range(900, 50));
}

TEST_F(StreamSourceTest, WaitsForSamplesAndGivesUpWhenTold) {
  const auto source = Make();
  ASSERT_TRUE(source->Seek(0).ok());
  script_->end = 5;
  EXPECT_EQ(source->Take(6, [] { return true; }).status().code(), StatusCode::kCancelled);
  std::jthread late([&] {
    std::this_thread::sleep_for(30ms);
    script_->end = 6;
  });
  EXPECT_EQ(Positions(source->Take(6, {})), Range(0, 6));
}

TEST_F(StreamSourceTest, TruncationGivesTheNewest) {
  const auto source = Make(/*persist=*/false);
  ASSERT_TRUE(source->Seek(0).ok());
  script_->end = 3;
  EXPECT_EQ(Positions(source->Take(3, {})).size(), 3U);
  script_->end = 100;
  while (source->standing().buffer.dropped == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  ASSERT_TRUE(source->Seek(3).ok());
  EXPECT_EQ(Positions(source->Take(3, {})), Range(97, 3));
  EXPECT_EQ(Positions(source->Take(3, {})), Range(97, 3));  // Though newer ones may have come.
}

TEST_F(StreamSourceTest, CommitsWhatIsForgottenAndNothingElse) {
  script_->end = 100;
  const auto source = Make();
  ASSERT_TRUE(source->Seek(0).ok());
  EXPECT_EQ(Positions(source->Take(10, {})), Range(0, 10));
  EXPECT_EQ(script_->committed, -1);
  ASSERT_TRUE(source->Seek(10).ok());
  ASSERT_TRUE(source->Forget(7).ok());
  EXPECT_EQ(script_->committed, 6);
  ASSERT_TRUE(source->Seek(7).ok());
  EXPECT_EQ(Positions(source->Take(5, {})), Range(7, 5));
}

// A coordinator and devices that crash at any moment, against a list of what is in the model: every position in it once.
TEST_F(StreamSourceTest, CountsEverySampleOnceWhateverCrashes) {
  constexpr std::int64_t kAll = 3000;
  script_->hole = [](std::int64_t position) { return position % 7 == 3; };
  script_->end = kAll;
  Rng rng(11);
  std::vector<std::int64_t> model, saved;  // positions in it, and in the last checkpoint
  auto source = Make(true, 200, 100);
  while (model.empty() || model.back() < kAll - 100) {
    const std::int64_t from = model.empty() ? 0 : model.back() + 1;
    const std::int64_t kept = saved.empty() ? 0 : saved.back() + 1;
    ASSERT_TRUE(source->Seek(from).ok());
    ASSERT_TRUE(source->Forget(kept).ok());
    const auto taken = source->Take(1 + rng.Below(40), {});
    ASSERT_TRUE(taken.ok());
    if (rng.Below(4) > 0) {  // Else the answer was late.
      for (const std::int64_t position : Positions(taken)) model.push_back(position);
    }
    if (rng.Below(3) == 0) saved = model;
    if (rng.Below(8) == 0) model = saved;
    if (rng.Below(8) == 0) {
      source.reset();
      source = Make(true, 200, 100);
    }
  }
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i <= model.back(); ++i) {
    if (!script_->hole(i)) expected.push_back(i);
  }
  EXPECT_EQ(model, expected);
}

}  // namespace
}  // namespace tributary::inline data
