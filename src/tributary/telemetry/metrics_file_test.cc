#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tributary/telemetry/prometheus.h"
#include "tributary/telemetry/testing_exposition.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(MetricsFile, HoldsTheLastStateWhenItIsClosed) {
  std::string name = (std::filesystem::temp_directory_path() / "metrics_test.XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const mode_t before = ::umask(077);
  auto file = MetricsFile::Create(folder / "t.prom");
  ::umask(before);
  ASSERT_TRUE(file.ok()) << file.status();
  // Collectors run as other users.
  EXPECT_EQ(std::filesystem::status(folder / "t.prom").permissions(), std::filesystem::perms(0644));
  (*file)->Write({0s, RunStarted{.rounds = 4}});
  (*file)->Write({1s, RoundFinished{.round = {1}}});
  EXPECT_TRUE((*file)->Close().ok());
  StrictExposition found;
  EXPECT_EQ(found.Read(TextOf(folder / "t.prom")), "");
  EXPECT_EQ(found.samples.at("tributary_rounds_total"), 1);
  // Nothing else is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

TEST(MetricsFile, SaysAtOnceWhereItCannotWrite) {
  EXPECT_EQ(MetricsFile::Create("/no/such/folder/t.prom").status().code(), StatusCode::kNotFound);
}

TEST(MetricsFile, AFolderThatGoesAwayIsReportedAtTheEnd) {
  std::string name = (std::filesystem::temp_directory_path() / "metrics_test.XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  auto file = MetricsFile::Create(folder / "t.prom");
  ASSERT_TRUE(file.ok()) << file.status();
  std::filesystem::remove_all(folder);
  (*file)->Write({0s, RunStarted{}});
  EXPECT_EQ((*file)->Close().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tributary::inline telemetry
