#include "tributary/telemetry/tensorboard_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

// Records of a file: lengths and the places of checksums, whose values the test with TensorBoard's own reader checks.
std::vector<std::string> Records(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string bytes = out.str();
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t size = 0;
    if (at + 12 > bytes.size()) return {};
    std::memcpy(&size, bytes.data() + at, 8);
    if (size > bytes.size() || at + 12 + size + 4 > bytes.size()) return {};
    records.push_back(bytes.substr(at + 12, size));
    at += 12 + size + 4;
  }
  return records;
}

class TensorBoardSinkTest : public testing::Test {
 protected:
  TensorBoardSinkTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tensorboard_test.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~TensorBoardSinkTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(TensorBoardSinkTest, WritesBytesThatWereWorkedOutByHand) {
  auto file = TensorBoardFile::Create(folder_, 1500ms);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<TensorBoardScalar> scalars = {{"a", 1.0}};
  (*file)->Scalars(300, 2s, scalars);
  ASSERT_TRUE((*file)->Close().ok());
  const auto records = Records(folder_ / "events.out.tfevents.tributary");
  ASSERT_EQ(records.size(), 2U);
  // wall_time 1.5, step 0, file_version.
  EXPECT_EQ(records[0], std::string("\x09\0\0\0\0\0\0\xf8\x3f\x10\0\x1a\x0d", 13) + "brain.Event:2");
  // wall_time 2, step 300, summary { value { tag "a", simple_value 1 } }.
  EXPECT_EQ(records[1], std::string("\x09\0\0\0\0\0\0\0\x40\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01"
                                    "a\x15\0\0\x80\x3f",
                                    24));
}

TEST_F(TensorBoardSinkTest, RunsOnAVirtualClockAreWrittenTwice) {
  auto sink = TensorBoardSink::Create(
      folder_ / "run",
      {.wall_clock = [] { return WallTime(100s); }, .experiment = "x = 1\n", .virtual_time = true});
  ASSERT_TRUE(sink.ok()) << sink.status();
  (*sink)->Write({0s, RunStarted{}});
  (*sink)->Write({1s, DeviceFinished{.round = {1}, .wait = 1s}});
  (*sink)->Write({2s, RoundFinished{.round = {1}, .duration = 2s}});
  (*sink)->Write({2s, Evaluated{.round = {1}, .accuracy = 0.5, .loss = 1}});
  ASSERT_TRUE((*sink)->Close().ok());
  const auto real = Records(folder_ / "run" / "events.out.tfevents.tributary");
  const auto virtual_time = Records(folder_ / "run" / "virtual-time" / "events.out.tfevents.tributary");
  ASSERT_EQ(real.size(), 4U);  // Version, experiment, round, evaluation.
  ASSERT_EQ(virtual_time.size(), 3U);
  EXPECT_NE(real[1].find("    x = 1"), std::string::npos);
  EXPECT_NE(real[2].find("waiting_share"), std::string::npos);
  EXPECT_EQ(real[2].find("kept"), std::string::npos);
  double time = 0;
  std::memcpy(&time, virtual_time[2].data() + 1, sizeof time);
  EXPECT_EQ(time, 102.0);
  std::memcpy(&time, real[3].data() + 1, sizeof time);
  EXPECT_EQ(time, 100.0);
}

TEST_F(TensorBoardSinkTest, SaysWhereItCannotWrite) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(TensorBoardSink::Create(folder_ / "file" / "run", {}).ok());
}

}  // namespace
}  // namespace tributary::inline telemetry
