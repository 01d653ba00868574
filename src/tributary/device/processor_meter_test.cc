#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tributary/device/compute_speed.h"

namespace tributary::inline device {
namespace {

class ProcessorMeterTest : public ::testing::Test {
 protected:
  ProcessorMeterTest()
      : root_(std::filesystem::path(::testing::TempDir()) / ("meter_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~ProcessorMeterTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::optional<double> Allowed() const {
    return ProcessorMeter(root_ / "fs", root_ / "membership").Allowed();
  }

  const std::filesystem::path root_;
};

TEST_F(ProcessorMeterTest, ReadsVersion2) {
  Write("membership", "0::/a/b\n");
  Write("fs/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(Allowed(), 0.5);
  Write("fs/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(Allowed(), std::nullopt);
  Write("fs/a/cpu.max", "3000 20000\n");  // A limit around it holds too.
  EXPECT_EQ(Allowed(), 0.15);
  Write("fs/a/b/cpu.max", "1000 20000\n");
  EXPECT_EQ(Allowed(), 0.05);
}

TEST_F(ProcessorMeterTest, ReadsVersion1WhereverItsControllerIsMounted) {
  for (const char* mount : {"cpu,cpuacct", "cpu"}) {
    std::filesystem::remove_all(root_);
    Write("membership", "5:memory:/m\n4:cpu,cpuacct:/a\n0::/\n");
    Write(std::string("fs/") + mount + "/a/cpu.cfs_quota_us", "1000\n");
    Write(std::string("fs/") + mount + "/a/cpu.cfs_period_us", "5000\n");
    EXPECT_EQ(Allowed(), 0.2) << mount;
    Write(std::string("fs/") + mount + "/a/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(Allowed(), std::nullopt);
  }
}

TEST_F(ProcessorMeterTest, SeesAChangeWithoutLookingForTheFilesAgain) {
  Write("membership", "0::/\n");
  Write("fs/cpu.max", "50000 100000\n");
  const ProcessorMeter meter(root_ / "fs", root_ / "membership");
  EXPECT_EQ(meter.Allowed(), 0.5);
  Write("fs/cpu.max", "20000 100000\n");
  EXPECT_EQ(meter.Allowed(), 0.2);
}

TEST_F(ProcessorMeterTest, NothingOrNonsenseIsNoLimit) {
  EXPECT_EQ(Allowed(), std::nullopt);
  Write("membership", "nonsense\n::\n0::/../..\n1:cpu\n");
  EXPECT_EQ(Allowed(), std::nullopt);
  Write("membership", "0::/\n");
  for (const char* text : {"", "x y", "5", "5 0", "0 5", "-3 5", "1e999 5"}) {
    Write("fs/cpu.max", text);
    EXPECT_EQ(Allowed(), std::nullopt) << text;
  }
}

TEST(ProcessorTime, GrowsWithWork) {
  const double before = ProcessorMeter::Used();
  volatile double sum = 0;
  for (int i = 0; i < 20'000'000; ++i) sum = sum + i;
  EXPECT_GT(ProcessorMeter::Used(), before + 1e-3);
}

}  // namespace
}  // namespace tributary::inline device
