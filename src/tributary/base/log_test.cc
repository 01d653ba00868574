#include "tributary/base/log.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace tributary::inline base {
namespace {

// What `write` brings into the log, of the lines below kWarning.
template <typename Write>
std::string Logged(LogOptions options, const Write& write) {
  std::FILE* file = std::tmpfile();
  options.out = file;
  SetUpLog(options);
  write();
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  SetUpLog({.least = LogLevel::kWarning});
  std::fclose(file);
  return text;
}

void WriteEachLevel() {
  Log(LogLevel::kDebug, "a detail");
  Log(LogLevel::kInfo, "news: {} is no placeholder");
  Log(LogLevel::kWarning, "a warning");
}

TEST(Log, ShowsTheLevelsThatWereAskedForAndWarningsOnStandardError) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Logged({}, WriteEachLevel), "news: {} is no placeholder\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "tributary: a warning\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Logged({.least = LogLevel::kWarning}, WriteEachLevel), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "tributary: a warning\n");
}

TEST(Log, BeginsLinesWithTimeAndLevel) {
  ::testing::internal::CaptureStderr();
  const std::string text = Logged({.least = LogLevel::kDebug, .times = true}, WriteEachLevel);
  const std::string time = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )";
  EXPECT_TRUE(std::regex_match(
      text, std::regex(time + "debug   a detail\n" + time + "info    news: \\{\\} is no placeholder\n")))
      << text;
  const std::string warned = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(std::regex_match(warned, std::regex(time + "warning a warning\n"))) << warned;
}

TEST(Log, SaysWhetherALevelIsShown) {
  Logged({}, [] {
    EXPECT_FALSE(LogShows(LogLevel::kDebug));
    EXPECT_TRUE(LogShows(LogLevel::kInfo));
  });
  EXPECT_FALSE(LogShows(LogLevel::kInfo));
  EXPECT_TRUE(LogShows(LogLevel::kWarning));
}

TEST(Log, WritesLinesOfManyThreadsWhole) {
  const std::string line(200, 'x');
  const std::string text = Logged({}, [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) Log(LogLevel::kInfo, line);
      });
    for (std::thread& thread : threads) thread.join();
  });
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += line + "\n";
  EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace tributary::inline base
