#include "tributary/telemetry/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace tributary::inline telemetry {
namespace {

// A stream that ends in a string.
class Output {
 public:
  Output() : file_(::open_memstream(&memory_, &size_)) {}
  ~Output() {
    std::fclose(file_);
    std::free(memory_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::FILE* file() { return file_; }
  std::string Text() {
    std::fflush(file_);
    return {memory_, size_};
  }

 private:
  char* memory_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

Progress::Options Terminal(std::size_t columns) {
  return {ProgressStyle::kTerminal, 100, "samples", columns};
}
Progress::Options Plain() { return {ProgressStyle::kPlain, 100, "samples", 0}; }

auto Count(const std::string& text, char letter) { return std::count(text.begin(), text.end(), letter); }

TEST(FormatProgress, SaysShareTextRateAndTimeLeft) {
  const ProgressState state = {5'000, 10'000, "samples", "epoch 3, loss 0.41", 100.0};
  EXPECT_EQ(FormatProgress(state, true, 0),
            " 50% [############............]  epoch 3, loss 0.41  100 samples/s  50 s left");
  EXPECT_EQ(FormatProgress(state, false, 0), " 50%  epoch 3, loss 0.41  100 samples/s  50 s left");
}

TEST(FormatProgress, SaysOnlyWhatIsKnown) {
  EXPECT_EQ(FormatProgress({1'500, 0, "samples", "", 12.5}, true, 0), "1.50 k samples  12.5 samples/s");
  EXPECT_EQ(FormatProgress({0, 10, "rounds", ""}, false, 0), "  0%");
  EXPECT_EQ(FormatProgress({1, 10, "rounds", "", 0.0}, false, 0), " 10%  0 rounds/s");
  EXPECT_EQ(FormatProgress({999, 1000, "rounds", "", 0.01}, false, 0),
            " 99%  0.01 rounds/s  1 min 40 s left");
  EXPECT_EQ(FormatProgress({1, 1'000'000'000'000, "rounds", "", 0.01}, false, 0),
            "  0%  0.01 rounds/s  more than a year left");
  EXPECT_EQ(FormatProgress({12, 10, "rounds", "done", 2.0, FromSeconds(6)}, false, 0),
            "100%  done  2 rounds/s  in 6.0 s");
  EXPECT_EQ(FormatProgress({10, 60, "", "text", 1.0}, false, 0), " 16%  text  50 s left");
  EXPECT_EQ(FormatProgress({10, 0, "", "text", 1.0}, false, 0), "text");
}

TEST(FormatProgress, NeverWiderThanAskedAndNeverHalfALetter) {
  const ProgressState state = {50, 100, "samples", "größer µ", 1.0};
  EXPECT_EQ(FormatProgress(state, true, 12), " 50%  größer");
  EXPECT_EQ(FormatProgress(state, true, 8), " 50%  gr");
  EXPECT_EQ(FormatProgress(state, true, 9), " 50%  grö");
  EXPECT_EQ(FormatProgress(state, true, 60), " 50% [############............]  größer µ  1 samples/s  50 s");
}

TEST(FormatProgress, LetsNoControlCharacterThrough) {
  EXPECT_EQ(FormatProgress({1, 2, "x", "a\nb\x1b[31m\t\x7f."}, false, 0), " 50%  a b [31m  .");
}

TEST(Progress, RedrawsATerminalTenTimesASecondAtMost) {
  VirtualClock clock;
  Output output;
  Progress progress(clock, output.file(), Terminal(80));
  for (std::uint64_t i = 0; i < 100; ++i) {
    clock.AdvanceTo(FromSeconds(0.01 * static_cast<double>(i)));
    progress.Update(i, "");
  }
  EXPECT_EQ(Count(output.Text(), '\r'), 10);
  EXPECT_EQ(Count(output.Text(), '\n'), 0);
  progress.Finish(100, "");
  EXPECT_TRUE(output.Text().ends_with("\r100% [########################]  101 samples/s  in 990 ms\n"))
      << output.Text();
  EXPECT_EQ(output.Text().find('\x1b'), std::string::npos);
}

TEST(Progress, CoversTheLongerLineBefore) {
  VirtualClock clock;
  Output output;
  Progress progress(clock, output.file(), Terminal(40));
  progress.Update(0, "fifteen letters");
  clock.AdvanceTo(FromSeconds(1));
  progress.Update(0, "");
  EXPECT_EQ(output.Text(), "\r  0%  fifteen letters\r  0%  0 samples/s    ");
  progress.Clear();
  EXPECT_TRUE(output.Text().ends_with("\r" + std::string(17, ' ') + "\r"));
  progress.Update(2, "a");
  EXPECT_TRUE(output.Text().ends_with("\r  2%  a  2 samples/s  49 s left")) << output.Text();
}

TEST(Progress, EndsALineThatWasGivenUp) {
  VirtualClock clock;
  Output output;
  {
    Progress progress(clock, output.file(), Terminal(20));
    progress.Update(1, "x");
  }
  EXPECT_EQ(output.Text(), "\r  1%  x\n");
}

TEST(Progress, PlainLinesAreRareAndTheLastAlwaysComes) {
  VirtualClock clock;
  Output output;
  Progress progress(clock, output.file(), Plain());
  for (std::uint64_t second = 1; second <= 12; ++second) {
    clock.AdvanceTo(FromSeconds(static_cast<double>(second)));
    progress.Update(second, "step");
  }
  progress.Clear();
  progress.Finish(12, "done");
  progress.Update(13, "late");
  EXPECT_EQ(output.Text(),
            "  2%  step  1 samples/s  1 min 38 s left\n"
            "  7%  step  1 samples/s  1 min 33 s left\n"
            " 12%  step  1 samples/s  1 min 28 s left\n"
            " 12%  done  1 samples/s  in 12.0 s\n");
}

TEST(Progress, ShortWorkLeavesNoTraceInALog) {
  VirtualClock clock;
  Output output;
  Progress progress(clock, output.file(), Plain());
  progress.Update(1, "");
  clock.AdvanceTo(FromSeconds(1.9));
  progress.Update(50, "");
  progress.Finish(100, "");
  EXPECT_EQ(output.Text(), "");
}

TEST(Progress, TimeLeftFollowsTheRecentRate) {
  VirtualClock clock;
  Output output;
  Progress progress(clock, output.file(), {ProgressStyle::kPlain, 2000, "samples", 0});
  std::uint64_t done = 0;
  for (int second = 1; second <= 60; ++second) {
    clock.AdvanceTo(FromSeconds(second));
    done += second <= 30 ? 1 : 20;
    progress.Update(done, "");
  }
  EXPECT_NE(output.Text().find("  1 samples/s"), std::string::npos);
  EXPECT_TRUE(output.Text().ends_with("  20 samples/s  1 min 12 s left\n")) << output.Text();
}

TEST(Progress, QuietIsQuiet) {
  VirtualClock clock;
  Output output;
  {
    Progress progress(clock, output.file(), {ProgressStyle::kQuiet, 10, "rounds", 0});
    clock.AdvanceTo(FromSeconds(100));
    progress.Update(1, "x");
    progress.Clear();
    progress.Finish(2, "y");
  }
  EXPECT_EQ(output.Text(), "");
}

TEST(Progress, AFullDiskDoesNotStopTheWork) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  std::setvbuf(full, nullptr, _IONBF, 0);  // As stderr is: every write fails at once.
  VirtualClock clock;
  for (const ProgressStyle style : {ProgressStyle::kPlain, ProgressStyle::kTerminal}) {
    Progress progress(clock, full, {style, 10, "rounds", 80});
    clock.AdvanceTo(clock.Now() + FromSeconds(10));
    EXPECT_NO_THROW(progress.Update(1, "x"));
    EXPECT_NO_THROW(progress.Clear());
    EXPECT_NO_THROW(progress.Finish(2, "y"));
  }
  std::fclose(full);
}

TEST(ProgressStyle, AFileIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(ProgressStyleFor(file), ProgressStyle::kPlain);
  std::fclose(file);
}

}  // namespace
}  // namespace tributary::inline telemetry
