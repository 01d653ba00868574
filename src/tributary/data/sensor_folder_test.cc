#include "tributary/data/sensor_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tributary/data/load.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;
using std::filesystem::path;
using Words = std::vector<std::string>;

class SensorFolder : public testing::Test {
 protected:
  SensorFolder() { std::filesystem::create_directories(folder_); }
  ~SensorFolder() override { std::filesystem::remove_all(folder_); }

  void Write(const path& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  // Rows 10 ms apart from `begin`, all with this label; x is `x` in each, y its number.
  void Record(const path& name, int rows, std::int64_t begin, const std::string& label, double x = 0) const {
    std::string text = "x,y,timestamp,label\n";
    for (int i = 0; i < rows; ++i) {
      text += std::to_string(x) + "," + std::to_string(i) + "," + std::to_string(begin + 10 * i) + "," +
              label + "\n";
    }
    Write(name, text);
  }
  StatusOr<TrainTest> Load() const { return LoadSensorFolder(folder_, options_); }
  std::string Refusal() const {
    const auto data = Load();
    return data.ok() ? "accepted" : data.status().message();
  }

  SensorFolderOptions options_{
      .name = "mine", .labels = {}, .settings = {.windows = {.length = 4, .hop = 2}}, .test_every = 5};
  const path folder_ = path(testing::TempDir()) / ("tributary_sensors_" + std::to_string(::getpid()));
};

TEST_F(SensorFolder, OrdersSourcesByKindAndSamplesByTime) {
  // Recording 1 is the later one, whatever its name.
  Record("ann/1_watch.csv", 6, 5000, "walk", 1);
  Record("ann/2_watch.csv", 4, 1000, "sit", 2);
  Record("ann/1_phone.csv", 4, 900, "walk", 3);
  Record("bob/x_phone.csv", 4, 0, "sit", 4);
  Record("cat/x_phone.csv", 8, 0, "walk", 5);
  const auto data = Load();
  ASSERT_TRUE(data.ok()) << data.status();
  const Origins& origins = *data->train.origins();
  EXPECT_EQ(origins.names, (Words{"ann phone", "bob phone", "ann watch"}));
  EXPECT_EQ(origins.sources, (std::vector<std::uint32_t>{0, 1, 2, 2, 2}));
  EXPECT_EQ(origins.recorded, (std::vector<Duration>{30ms, 30ms, 30ms, 4030ms, 4050ms}));
  EXPECT_EQ(std::vector<std::int32_t>(data->train.labels().begin(), data->train.labels().end()),
            (std::vector<std::int32_t>{1, 0, 0, 1, 1}));  // sit, walk
  EXPECT_EQ(data->test.origins()->names, Words{"cat phone"});
  EXPECT_EQ(data->test.size(), 3U);
  EXPECT_EQ(data->train.shape(), (Shape{2, 1, 4}));
  std::vector<float> sample(8);
  data->train.ReadPlain(4, sample);
  EXPECT_EQ(sample, (std::vector<float>{1, 1, 1, 1, 2, 3, 4, 5}));
}

TEST_F(SensorFolder, NormalisesByTheTrainingPeopleAlone) {
  Record("a/1.csv", 4, 0, "walk", 1);
  Record("b/1.csv", 4, 0, "walk", 3);
  Record("c/1.csv", 4, 0, "walk", 1000);
  const auto data = Load();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.normalisation().mean[0], 2);
  EXPECT_EQ(data->train.normalisation().deviation[0], 1);
  EXPECT_EQ(data->test.normalisation(), data->train.normalisation());
}

TEST_F(SensorFolder, HoldsOutEveryFifthPersonWhole) {
  for (int person = 1; person <= 11; ++person) {
    const std::string name = "p" + std::to_string(100 + person);
    Record(name + "/1_a.csv", 4, 0, "walk");
    Record(name + "/1_b.csv", 4, 0, "walk");
  }
  const auto data = Load();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->test.origins()->names, (Words{"p105 a", "p110 a", "p105 b", "p110 b"}));
  EXPECT_EQ(data->train.origins()->names.size(), 18U);
}

TEST_F(SensorFolder, RefusesWithFileAndLine) {
  EXPECT_EQ(
      Refusal(),
      folder_.string() +
          " holds 0 folders with .csv files; at least two are needed, to train on one and test on the other");
  Record("a/1.csv", 4, 0, "walk");
  Record("b/1.csv", 4, 0, "walk");
  EXPECT_EQ(Refusal(), "accepted");
  Write("b/2.csv", "x,z,timestamp,label\n1,2,3,walk\n");
  EXPECT_EQ(Refusal(),
            (folder_ / "b/2.csv").string() + ": line 1: names a column 'z'; expected x, y, timestamp, label");
  Record("b/2.csv", 4, 0, "wlak");
  options_.labels = {"walk", "sit"};
  EXPECT_EQ(Refusal(), (folder_ / "b/2.csv").string() +
                           ": line 2: unknown label 'wlak'; did you mean 'walk'? Known: walk, sit");
  Record("b/2.csv", 4, 0, "sit");
  options_.settings.windows.length = 5;
  EXPECT_EQ(
      Refusal(),
      "no window of 5 rows without a gap fits into the training recordings; they are too short, or their "
      "labels change too often. Choose a shorter window, or allow longer gaps");
}

TEST_F(SensorFolder, IsHarUnderItsNameAndOnesOwnUnderItsPath) {
  EXPECT_NE(LoadData({.name = "har"}).status().message().find("no folder was given"), std::string::npos);
  const Status missing = LoadData({.name = "har", .data_dir = folder_}).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("--data-dir DIR"), std::string::npos) << missing;
  EXPECT_NE(missing.message().find("https://doi.org/"), std::string::npos) << missing;

  Record("har/DATA/s01/s01_01_sp.csv", 150, 0, "WALKING");
  Record("har/DATA/s02/s02_01_sw.csv", 150, 0, "SITTING_DOWN");
  const auto har = LoadData({.name = "har", .data_dir = folder_, .train_limit = 2});
  ASSERT_TRUE(har.ok()) << har.status();
  EXPECT_EQ(har->train.classes(), 5);
  EXPECT_EQ(har->train.size(), 2U);
  EXPECT_EQ(har->train.origins()->sources.size(), 2U);  // A limit keeps the origins of what it keeps.
  EXPECT_EQ(har->test.label(0), 4);

  const auto own = LoadData({.name = (folder_ / "har/DATA/").string()});
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->train.name(), "DATA");
  EXPECT_EQ(own->train.classes(), 2);
}

}  // namespace
}  // namespace tributary::inline data
