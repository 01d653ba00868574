#include "tributary/data/stream_buffer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "tributary/base/rng.h"
#include "tributary/data/stream_source.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kSampleBytes = 100;

StreamSample Sample(std::int64_t position) {
  return {.position = position,
          .label = static_cast<std::int32_t>(position % 10),
          .payload = std::vector<std::byte>(kSampleBytes, static_cast<std::byte>(position))};
}

Numbers Take(StreamBuffer& buffer, std::size_t count) {
  auto taken = buffer.Take(count);
  EXPECT_TRUE(taken.ok()) << taken.status();
  Numbers positions;
  for (const StreamSample& sample : *taken) {
    EXPECT_EQ(sample, Sample(sample.position));
    positions.push_back(sample.position);
  }
  return positions;
}

Pushed Push(StreamBuffer& buffer, std::int64_t position, TimePoint now = 0s) {
  StreamSample sample = Sample(position);
  const Pushed pushed = buffer.Push(sample, now);
  if (pushed == Pushed::kFull) {
    EXPECT_EQ(sample, Sample(position));
  }
  return pushed;
}

Numbers Range(std::int64_t from, std::int64_t to) {
  Numbers numbers(static_cast<std::size_t>(to - from));
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

// A stream that keeps everything, as a broker does.
class KeptStream : public Stream {
 public:
  void Poll(TimePoint, const PollLimits& limits, std::vector<StreamSample>& out) override {
    for (std::size_t i = 0; i < limits.samples && next_ < end; ++i) out.push_back(Sample(next_++));
  }
  Status Seek(std::int64_t position) override {
    next_ = position;
    return OkStatus();
  }
  void Commit(std::int64_t) override {}
  StreamState state() const override { return {StreamPhase::kConnected, ""}; }
  std::optional<std::string> TakeNews() override { return std::nullopt; }
  StreamCounts counts() const override { return {}; }
  void Close() override {}

  std::int64_t end = 0;  // Of what was produced.

 private:
  std::int64_t next_ = 0;
};

TEST(TruncatingBuffer, KeepsTheNewestAndCountsTheRest) {
  TruncatingBuffer buffer(5, 0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(Push(buffer, i), Pushed::kTaken);
  EXPECT_EQ(Push(buffer, 11), Pushed::kDuplicate);
  EXPECT_EQ(buffer.metrics(0s).dropped, 7);
  EXPECT_EQ(Take(buffer, 2), (Numbers{7, 8}));
  EXPECT_EQ(buffer.next_needed(), 12);
  buffer.SetCapacity(1);
  EXPECT_EQ(Take(buffer, 9), (Numbers{11}));
  EXPECT_EQ(buffer.metrics(0s).dropped, 9);
}

TEST(TruncatingBuffer, StaysWithinItsBoundUnderAnyArrivals) {
  Rng rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t capacity = 1 + rng.Below(40);
    TruncatingBuffer buffer(capacity, 0);
    std::int64_t next = 0, taken = 0;
    TimePoint now{0};
    for (int step = 0; step < 200; ++step) {
      now += 1s;
      for (std::uint64_t burst = rng.Below(100); burst > 0; --burst) {
        next += 1 + static_cast<std::int64_t>(rng.Below(3) / 2);
        ASSERT_EQ(Push(buffer, next, now), Pushed::kTaken);
        const BufferMetrics metrics = buffer.metrics(now);
        ASSERT_LE(metrics.samples, static_cast<std::int64_t>(capacity));
        ASSERT_EQ(metrics.memory.value, metrics.samples * static_cast<std::int64_t>(kSampleBytes));
      }
      const Numbers got = Take(buffer, rng.Below(60));
      ASSERT_TRUE(std::is_sorted(got.begin(), got.end()));
      taken += static_cast<std::int64_t>(got.size());
      if (buffer.metrics(now).samples == 0) {
        ASSERT_EQ(buffer.metrics(now).oldest, 0s);
      }
    }
    ASSERT_GT(taken, 0);
  }
}

class PersistingBufferTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "stream_buffer_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<PersistingBuffer> Open(std::int64_t from = 0, Bytes disk = {0}, TimePoint now = 0s) {
    auto buffer = PersistingBuffer::Open(
        {.memory = Bytes{10 * kSampleBytes}, .folder = folder_, .disk = disk}, from, now);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return std::move(*buffer);
  }

  std::filesystem::path folder_;
};

TEST_F(PersistingBufferTest, SpillsPastItsMemoryAndGivesTheOldestFirst) {
  const auto buffer = Open();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Push(*buffer, i, i * 1s), Pushed::kTaken);
  const BufferMetrics metrics = buffer->metrics(100s);
  EXPECT_EQ(metrics.samples, 30);
  EXPECT_EQ(metrics.memory, Bytes{10 * kSampleBytes});
  EXPECT_GT(metrics.disk, Bytes{20 * kSampleBytes});
  EXPECT_EQ(metrics.oldest, 100s);
  EXPECT_EQ(Take(*buffer, 15), Range(0, 15));
  EXPECT_EQ(buffer->metrics(100s).oldest, 85s);
  EXPECT_EQ(Take(*buffer, 100), Range(15, 30));
  EXPECT_EQ(buffer->metrics(100s).oldest, 0s);
  ASSERT_TRUE(buffer->Release(29).ok());
  EXPECT_EQ(buffer->metrics(100s).disk, Bytes{0});
}

TEST_F(PersistingBufferTest, TakesNoMoreWhenTheDiskIsFullSaysSoOnceAndGoesOn) {
  const auto buffer = Open(0, Bytes{1000});
  std::int64_t next = 0;
  while (Push(*buffer, next) == Pushed::kTaken) ++next;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Push(*buffer, next), Pushed::kFull);
  EXPECT_TRUE(buffer->metrics(0s).full);
  const auto news = buffer->TakeNews();
  ASSERT_TRUE(news);
  EXPECT_NE(news->find("takes no more samples"), std::string::npos);
  EXPECT_FALSE(buffer->TakeNews());
  EXPECT_EQ(Take(*buffer, 1000), Range(0, next));
  ASSERT_TRUE(buffer->Release(next - 1).ok());
  EXPECT_EQ(Push(*buffer, next), Pushed::kTaken);
  EXPECT_TRUE(buffer->TakeNews());
  EXPECT_FALSE(buffer->TakeNews());
}

TEST_F(PersistingBufferTest, AsksAgainForWhatWasInMemoryAndHoldsBackTheRestTillThen) {
  {
    const auto buffer = Open();
    for (int i = 0; i < 30; ++i) Push(*buffer, i);
    EXPECT_EQ(Take(*buffer, 4), Range(0, 4));
    ASSERT_TRUE(buffer->Release(1).ok());
  }
  const auto buffer = Open(2);
  EXPECT_EQ(buffer->next_needed(), 2);
  EXPECT_EQ(Take(*buffer, 100), Numbers());  // 2 to 9 are not here yet.
  for (int i = 2; i < 6; ++i) EXPECT_EQ(Push(*buffer, i), Pushed::kTaken);
  EXPECT_EQ(Take(*buffer, 3), Range(2, 5));
  for (int i = 6; i < 30; ++i) EXPECT_EQ(Push(*buffer, i), i < 10 ? Pushed::kTaken : Pushed::kDuplicate) << i;
  EXPECT_EQ(Push(*buffer, 30), Pushed::kTaken);
  EXPECT_EQ(Take(*buffer, 100), Range(5, 31));
}

TEST_F(PersistingBufferTest, GoesOnWithWhatItHasIfTheStreamCannotBringItAgain) {
  {
    const auto buffer = Open();
    for (int i = 0; i < 30; ++i) Push(*buffer, i);
  }
  const auto buffer = Open(0);
  EXPECT_EQ(Push(*buffer, 8), Pushed::kTaken);
  EXPECT_EQ(Push(*buffer, 40), Pushed::kTaken);
  Numbers expected = {8};
  for (const std::int64_t i : Range(10, 30)) expected.push_back(i);
  expected.push_back(40);
  EXPECT_EQ(Take(*buffer, 100), expected);
}

// Arrivals, steps and kills at random; what was applied at a kill decides where the next life begins. Each life is given
// every sample from there on, once and in order.
TEST_F(PersistingBufferTest, LosesNothingAndRepeatsNothingAcrossRestarts) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::filesystem::remove_all(folder_);
    Rng rng(seed);
    KeptStream stream;
    std::int64_t applied = -1;  // What a coordinator has in its checkpoint.
    std::int64_t spilled = 0;
    for (int life = 0; life < 15; ++life) {
      const auto buffer = Open(applied + 1, Bytes{rng.Below(2) == 0 ? 0 : 4000});
      StreamFeed feed(stream, *buffer);
      ASSERT_TRUE(feed.Start().ok());
      std::int64_t next = applied + 1;
      for (std::uint64_t steps = 1 + rng.Below(30); steps > 0; --steps) {
        stream.end += static_cast<std::int64_t>(rng.Below(40));
        feed.Pump(0s, {.samples = 1 + rng.Below(50)});
        const BufferMetrics metrics = buffer->metrics(0s);
        ASSERT_LE(metrics.memory, Bytes{10 * kSampleBytes});
        ASSERT_EQ(metrics.dropped, 0);
        spilled += metrics.disk.value > 0 ? 1 : 0;
        const Numbers got = Take(*buffer, rng.Below(50));
        ASSERT_EQ(got, Range(next, next + static_cast<std::int64_t>(got.size()))) << seed << " " << life;
        next += static_cast<std::int64_t>(got.size());
        if (rng.Below(3) == 0) applied = next - 1;
        if (rng.Below(3) == 0) {
          ASSERT_TRUE(buffer->Release(applied).ok());
        }
      }
    }
    EXPECT_GT(applied, 500);
    EXPECT_GT(spilled, 0);
  }
}

// The same with real kills: a child process fills and takes, writes down every position it
// took, and is killed in the middle.
TEST_F(PersistingBufferTest, SurvivesKillNine) {
  Rng rng(11);
  std::int64_t applied = -1;
  for (int life = 0; life < 12; ++life) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto buffer = Open(applied + 1);
      KeptStream stream;
      stream.end = 1'000'000'000;
      StreamFeed feed(stream, *buffer);
      if (!feed.Start().ok()) ::_exit(1);
      while (true) {
        feed.Pump(0s, {.samples = 37});
        const auto taken = buffer->Take(20);
        if (!taken.ok() || taken->empty()) continue;
        for (const StreamSample& sample : *taken) {
          if (::write(ends[1], &sample.position, sizeof sample.position) < 0) ::_exit(1);
        }
        if (!buffer->Release(taken->back().position).ok()) ::_exit(1);
      }
    }
    ::close(ends[1]);
    // Reads some, then kills it; what it wrote before it died was applied.
    std::int64_t position = 0;
    const std::int64_t least = 100 + static_cast<std::int64_t>(rng.Below(2000));
    bool killed = false;
    for (std::int64_t count = 0; ::read(ends[0], &position, sizeof position) == sizeof position; ++count) {
      ASSERT_EQ(position, applied + 1);
      applied = position;
      if (count == least && !killed) killed = ::kill(child, SIGKILL) == 0;
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  EXPECT_GT(applied, 1200);
}

// A limit on the size of files makes writing fail as a full disk does, in the middle of an entry.
TEST_F(PersistingBufferTest, WaitsOutARealWriteFailure) {
  const auto buffer = Open();
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1234;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::int64_t next = 0;
  while (Push(*buffer, next) == Pushed::kTaken && next < 1000) ++next;
  const Pushed again = Push(*buffer, next);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(again, Pushed::kFull);
  EXPECT_LT(next, 30);
  const auto news = buffer->TakeNews();
  ASSERT_TRUE(news);
  EXPECT_NE(news->find("File too large"), std::string::npos) << *news;
  EXPECT_EQ(Take(*buffer, 5), Range(0, 5));
  for (; next < 60; ++next) EXPECT_EQ(Push(*buffer, next), Pushed::kTaken);
  EXPECT_EQ(Take(*buffer, 1000), Range(5, 60));
}

TEST(StreamFeed, PollsNothingWhileTheBufferIsFull) {
  class Reluctant : public TruncatingBuffer {
   public:
    Reluctant() : TruncatingBuffer(1000, 0) {}
    Pushed Push(StreamSample& sample, TimePoint now) override {
      return room-- > 0 ? TruncatingBuffer::Push(sample, now) : Pushed::kFull;
    }
    int room = 0;
  };
  KeptStream stream;
  stream.end = 100;
  Reluctant buffer;
  StreamFeed feed(stream, buffer);
  ASSERT_TRUE(feed.Start().ok());
  Numbers seen;
  for (int round = 0; round < 60; ++round) {
    buffer.room = 3;
    EXPECT_LE(feed.Pump(0s, {.samples = 10}), 3);
  }
  EXPECT_EQ(Take(buffer, 1000), Range(0, 100));
}

}  // namespace
}  // namespace tributary::inline data
