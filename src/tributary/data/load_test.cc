#include "tributary/data/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tributary/data/npy.h"
#include "tributary/data/npy_folder.h"
#include "tributary/data/published_formats.h"

namespace tributary::inline data {
namespace {

using std::string_literals::operator""s;

class LoadTest : public testing::Test {
 protected:
  LoadTest() { std::filesystem::create_directories(folder_); }
  ~LoadTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::filesystem::path& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  void WriteFloats(const std::string& name, std::vector<std::size_t> shape, std::vector<float> values) const {
    ASSERT_TRUE(WriteNpy(folder_ / name, shape, values).ok());
  }
  void WriteLabels(const std::string& name, std::vector<std::int64_t> values) const {
    ASSERT_TRUE(WriteNpy(folder_ / name, std::vector<std::size_t>{values.size()}, values).ok());
  }
  std::string Refusal(DataOptions options) const {
    options.data_dir = folder_;
    const auto data = LoadData(options);
    return data.ok() ? "accepted" : data.status().message();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tributary_load_" + std::to_string(::getpid()));
};

std::string CifarRecords(int count, std::size_t label_bytes, char label) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += std::string(label_bytes, label) + std::string(kCifarPixels, '\x33');
  return bytes;
}

TEST_F(LoadTest, DrawsGlyphsWithoutAFolder) {
  const auto data = LoadData({.name = "glyphs", .train_limit = 30, .test_limit = 20});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.size(), 30U);
  EXPECT_EQ(data->test.size(), 20U);
}

TEST_F(LoadTest, ReadsFashionMnistPlain) {
  Write("fashion-mnist/train-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01\xff\0"s);
  Write("fashion-mnist/train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x02\x09\x01"s);
  Write("fashion-mnist/t10k-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x01\x33"s);
  EXPECT_NE(Refusal({.name = "fashion-mnist"})
                .find("t10k-labels-idx1-ubyte.gz. Give the folder that holds fashion-mnist/"),
            std::string::npos);
  Write("fashion-mnist/t10k-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x01\x05"s);
  const auto data = LoadData({.name = "fashion-mnist", .data_dir = folder_});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.label(0), 9);
  std::vector<float> sample(1);
  data->train.Read(0, sample);
  EXPECT_FLOAT_EQ(sample[0], (1 - 0.2860F) / 0.3530F);
  Write("fashion-mnist/t10k-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x01\x0a"s);
  EXPECT_NE(Refusal({.name = "fashion-mnist"}).find("t10k: sample 0 has label 10"), std::string::npos);
}

TEST_F(LoadTest, ReadsCifarFromItsFolderOrTheOfficialOneInside) {
  for (const std::string inner : {"", "cifar-10-batches-bin/"}) {
    for (int i = 1; i <= 5; ++i) {
      Write("cifar10/" + inner + "data_batch_" + std::to_string(i) + ".bin",
            CifarRecords(2, 1, static_cast<char>(i)));
    }
    Write("cifar10/" + inner + "test_batch.bin", CifarRecords(1, 1, 9));
    const auto data = LoadData({.name = "cifar10", .data_dir = folder_});
    ASSERT_TRUE(data.ok()) << data.status();
    const std::vector<std::int32_t> labels(data->train.labels().begin(), data->train.labels().end());
    EXPECT_EQ(labels, (std::vector<std::int32_t>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
    EXPECT_EQ(data->test.label(0), 9);
    std::filesystem::remove_all(folder_ / "cifar10");
  }
  Write("cifar100/cifar-100-binary/train.bin", CifarRecords(3, 2, 7));
  Write("cifar100/cifar-100-binary/test.bin", CifarRecords(1, 2, 8));
  const auto data = LoadData({.name = "cifar100", .data_dir = folder_, .train_limit = 2});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.classes(), 100);
  EXPECT_EQ(data->train.size(), 2U);
}

TEST_F(LoadTest, SaysWhereAMissingFileWasLookedForAndHowToNameTheFolder) {
  const std::string message = Refusal({.name = "cifar10"});
  EXPECT_NE(message.find((folder_ / "cifar10" / "data_batch_1.bin").string()), std::string::npos) << message;
  EXPECT_NE(message.find("--data-dir DIR"), std::string::npos) << message;
  EXPECT_NE(message.find("TRIBUTARY_DATA"), std::string::npos) << message;
}

TEST_F(LoadTest, DoesNotLookInTheCurrentFolderWhenNoneIsGiven) {
  const auto data = LoadData({.name = "mnist"});
  EXPECT_EQ(data.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(data.status().message().find("no folder was given"), std::string::npos) << data.status();
}

TEST_F(LoadTest, RefusesUnknownNamesAndLimitsOfNone) {
  EXPECT_NE(Refusal({.name = "cifar-10"}).find("did you mean 'cifar10'?"), std::string::npos);
  EXPECT_NE(Refusal({.name = "no/such/folder"}).find("there is no folder no/such/folder"), std::string::npos);
  EXPECT_NE(Refusal({.train_limit = 0}).find("at least 1, found 0"), std::string::npos);
  EXPECT_EQ(DatasetNames().size(), KnownDatasets().size());
}

TEST_F(LoadTest, ReadsAFolderOfArraysAndHoldsOutATenth) {
  std::vector<float> values(40 * 3);
  std::vector<std::int64_t> labels(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 4);
  WriteFloats("X.npy", {40, 3}, values);
  WriteLabels("y.npy", labels);
  const auto data = LoadData({.name = folder_.string() + "/", .seed = 3});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.name(), folder_.filename().string());
  EXPECT_EQ(data->train.shape(), (Shape{1, 1, 3}));
  EXPECT_EQ(data->train.classes(), 4);
  EXPECT_EQ(data->train.size(), 36U);
  EXPECT_EQ(data->test.size(), 4U);
  // Every sample on one side, with its own label; and the training part normalised.
  std::set<float> firsts;
  std::vector<float> sample(3);
  for (const Dataset* part : {&data->train, &data->test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      part->ReadPlain(i, sample);
      firsts.insert(sample[0]);
      EXPECT_EQ(static_cast<int>(sample[0]) / 3 % 4, part->label(i));
    }
  }
  EXPECT_EQ(firsts.size(), 40U);
  EXPECT_EQ(data->train.normalisation(), MeasureNormalisation(data->train));
  EXPECT_EQ(data->test.normalisation(), data->train.normalisation());
}

TEST_F(LoadTest, ReadsAGivenTestPartAndCountsClassesOverBoth) {
  WriteFloats("X.npy", {2, 1, 2, 1}, {1, 2, 3, 4});
  WriteLabels("y.npy", {0, 1});
  WriteFloats("X_test.npy", {1, 2, 1}, {5, 6});
  EXPECT_NE(Refusal({.name = folder_.string()}).find("y_test.npy"), std::string::npos);
  WriteLabels("y_test.npy", {4});
  const auto data = LoadData({.name = folder_.string()});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(data->train.classes(), 5);
  EXPECT_EQ(data->test.classes(), 5);
  WriteFloats("X_test.npy", {1, 3}, {5, 6, 7});
  EXPECT_NE(Refusal({.name = folder_.string()}).find("samples of shape 1x1x3, but X.npy of 1x2x1"),
            std::string::npos);
}

TEST_F(LoadTest, RefusesArraysThatAreNoDataSet) {
  const auto refusal = [](std::vector<std::size_t> shape, std::vector<float> values,
                          std::vector<float> labels) {
    const auto dataset = DatasetFromNpy("test", FormatNpy(shape, values),
                                        FormatNpy(std::vector<std::size_t>{labels.size()}, labels));
    return dataset.ok() ? "accepted" : dataset.status().message();
  };
  EXPECT_EQ(refusal({2, 1}, {1, 2}, {0, 1}), "accepted");
  EXPECT_NE(refusal({2}, {1, 2}, {0, 1}).find("found 2"), std::string::npos);
  EXPECT_NE(refusal({0, 3}, {}, {}).find("found 0 x 3"), std::string::npos);
  EXPECT_NE(refusal({2, 1}, {1, 2}, {0}).find("2 samples but 1 labels"), std::string::npos);
  EXPECT_NE(refusal({2, 1}, {1, 2}, {0, -1}).find("label 1 must be from 0"), std::string::npos);
  EXPECT_NE(refusal({2, 1}, {1, 2}, {0, 0.5F}).find("not a whole number"), std::string::npos);
  EXPECT_NE(refusal({2, 1}, {1, 2}, {0, 1e6F}).find("found 1000000"), std::string::npos);
}

TEST(Load, ADataSetOfAnExtensionIsLimitedAndChecked) {
  const auto draw = [](std::size_t count, int classes) {
    return Dataset::Make({"own", {1, 1, 1}, classes, {}}, std::vector<std::uint8_t>(count, 7),
                         std::vector<std::int32_t>(count, 1))
        .value();
  };
  DataOptions options{.name = "own", .data_dir = "somewhere", .train_limit = 3};
  options.own = std::make_shared<DatasetKind>(
      DatasetKind{"own", "", [&](const std::filesystem::path& folder) {
                    EXPECT_EQ(folder, "somewhere");
                    return StatusOr<TrainTest>(TrainTest{draw(5, 2), draw(2, 2)});
                  }});
  const auto data = LoadData(options);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.size(), 3U);
  EXPECT_EQ(data->test.size(), 2U);

  options.own = std::make_shared<DatasetKind>(
      DatasetKind{"own", "", [&](const std::filesystem::path&) {
                    return StatusOr<TrainTest>(TrainTest{draw(5, 2), draw(2, 3)});
                  }});
  EXPECT_NE(LoadData(options).status().message().find("data set 'own': both parts must have the same shape"),
            std::string::npos);
}

}  // namespace
}  // namespace tributary::inline data
