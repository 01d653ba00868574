#include "tributary/data/image_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tributary/data/load.h"
#include "tributary/data/testing_images.h"

namespace tributary::inline data {
namespace {

using namespace testing;

class ImageFolder : public ::testing::Test {
 protected:
  ImageFolder()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("images_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~ImageFolder() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& name, const std::vector<std::uint8_t>& bytes) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  StatusOr<TrainTest> Load(const ImageSettings& settings = {}, const std::vector<std::string>& classes = {}) {
    return LoadImageFolder(folder_, classes, settings, 1);
  }
  std::string Refusal(const ImageSettings& settings = {}) { return Load(settings).status().message(); }
  static std::vector<float> PlainOf(const Dataset& dataset, std::size_t index) {
    std::vector<float> values(static_cast<std::size_t>(dataset.shape().elements()));
    dataset.ReadPlain(index, values);
    return values;
  }

  const std::filesystem::path folder_;
};

TEST_F(ImageFolder, ClassesAreSortedAndTheSplitIsByClass) {
  for (int i = 0; i < 30; ++i) Put("zebra/" + std::to_string(i) + ".png", kRgbPng);
  for (int i = 0; i < 14; ++i) Put("ant/" + std::to_string(i) + ".PNG", kPalettePng);
  Put("bee/only.png", kGreyPng);
  Put("bee/.hidden.png", {1, 2, 3});
  Put("bee/notes.txt", {1, 2, 3});
  Put(".git/a.png", {1});
  Put("empty/readme", {1});
  const auto data = Load();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.class_names(), (std::vector<std::string>{"ant", "bee", "zebra"}));
  const auto count = [](const Dataset& part, int label) { return std::ranges::count(part.labels(), label); };
  EXPECT_EQ(count(data->test, 0), 1);
  EXPECT_EQ(count(data->test, 1), 0);
  EXPECT_EQ(count(data->test, 2), 3);
  EXPECT_EQ(count(data->train, 0), 13);
  EXPECT_EQ(count(data->train, 1), 1);
  EXPECT_EQ(count(data->train, 2), 27);
  EXPECT_EQ(data->train.shape(), (Shape{3, 4, 5}));
  // Channel by channel.
  const std::size_t zebra = data->train.size() - 1;
  const auto values = PlainOf(data->train, zebra);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_FLOAT_EQ(values[20 * c + i], static_cast<float>(kRgbPixels[3 * i + c]) / 255);
  }
}

TEST_F(ImageFolder, TheSplitIsAFunctionOfTheSeed) {
  std::vector<ImageFile> files;
  for (int i = 0; i < 200; ++i) files.push_back({std::to_string(i), i % 2});
  const auto held = HeldOutImages(files, 2, 3);
  EXPECT_EQ(HeldOutImages(files, 2, 3), held);
  EXPECT_NE(HeldOutImages(files, 2, 4), held);
  std::set<int> counts;
  for (int label : {0, 1}) {
    int count = 0;
    for (std::size_t i = 0; i < files.size(); ++i) count += held[i] && files[i].label == label ? 1 : 0;
    EXPECT_EQ(count, 10);
  }
}

TEST_F(ImageFolder, TrainAndTestMayBeFolders) {
  Put("train/a/1.png", kGreyPng);
  Put("train/b/1.png", kGreyPng);
  Put("test/b/1.png", kRgbPng);  // Colour, so all are.
  const auto data = Load();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.size(), 2U);
  EXPECT_EQ(data->test.label(0), 1);
  EXPECT_EQ(data->train.shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(data->test.shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(Load({.colour = ImageColour::kGrey})->test.shape(), (Shape{1, 4, 5}));
  Put("test/c/1.png", kRgbPng);
  EXPECT_NE(Refusal().find("c is a class that"), std::string::npos) << Refusal();
}

TEST_F(ImageFolder, GreyPicturesStayGreyUnlessThereIsColour) {
  for (int i = 0; i < 4; ++i) Put("a/" + std::to_string(i) + ".png", kGreyPng);
  EXPECT_EQ(Load()->train.shape(), (Shape{1, 4, 5}));
  EXPECT_EQ(Load({.colour = ImageColour::kColour})->train.shape(), (Shape{3, 4, 5}));
  Put("b/1.png", kRgbPng);
  const auto data = Load();
  EXPECT_EQ(data->train.shape(), (Shape{3, 4, 5}));
  const auto values = PlainOf(data->train, 0);
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_FLOAT_EQ(values[i], static_cast<float>(kGreyPixels[i % 20]) / 255);
}

TEST_F(ImageFolder, OfSeveralSizesOneIsChosenByThePerson) {
  for (int i = 0; i < 4; ++i) Put("a/" + std::to_string(i) + ".png", kRgbPng);
  Put("b/1.jpg", kJpeg);
  const std::string refusal = Refusal();
  EXPECT_NE(refusal.find("1.jpg is 24 x 32 pixels (height x width), but"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("--image-size"), std::string::npos) << refusal;
  const auto data = Load({.height = 6, .width = 9});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.shape(), (Shape{3, 6, 9}));
  // And of two parts as well.
  std::filesystem::remove_all(folder_);
  Put("train/a/1.png", kRgbPng);
  Put("test/a/1.jpg", kJpeg);
  EXPECT_NE(Refusal().find("1.jpg is 24 x 32"), std::string::npos) << Refusal();
}

TEST_F(ImageFolder, ABrokenPictureIsNamed) {
  for (int i = 0; i < 4; ++i) Put("a/" + std::to_string(i) + ".png", kRgbPng);
  Put("b/broken.jpeg", {0xff, 0xd8, 0xff, 0xe0});
  EXPECT_NE(Refusal().find("b/broken.jpeg: JPEG: "), std::string::npos) << Refusal();
  Put("b/broken.jpeg", kHugePng);
  EXPECT_NE(Refusal().find("b/broken.jpeg: the picture is 60000 x 60000"), std::string::npos) << Refusal();
}

TEST_F(ImageFolder, ClassesMayBeNamedInAdvance) {
  for (int i = 0; i < 4; ++i) Put("dog/" + std::to_string(i) + ".png", kRgbPng);
  const auto data = Load({}, {"cat", "dog", "fox"});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.classes(), 3);
  EXPECT_EQ(data->train.label(0), 1);
  EXPECT_NE(Load({}, {"cat"}).status().message().find("not among those named"), std::string::npos);
}

TEST_F(ImageFolder, LinksAreFollowedAndOtherThingsAreNot) {
  Put("elsewhere.png", kRgbPng);
  Put("a/1.png", kRgbPng);
  std::filesystem::create_symlink(folder_ / "elsewhere.png", folder_ / "a/2.png");
  std::filesystem::create_symlink(folder_ / "nowhere.png", folder_ / "a/3.png");
  std::filesystem::create_directory(folder_ / "a/4.png");
  std::filesystem::create_directory_symlink(folder_, folder_ / "a/loop");
  const auto listing = ListImages(folder_);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->train.size(), 2U);
}

TEST_F(ImageFolder, IsRecognisedAmongOtherFolders) {
  EXPECT_EQ(KindOfFolder(folder_), FolderKind::kNone);
  Put("a/1.csv", {'x'});
  EXPECT_EQ(KindOfFolder(folder_), FolderKind::kRecordings);
  Put("a/1.png", kRgbPng);
  EXPECT_EQ(KindOfFolder(folder_), FolderKind::kImages);
  Put("X.npy", {});
  EXPECT_EQ(KindOfFolder(folder_), FolderKind::kArrays);
}

}  // namespace
}  // namespace tributary::inline data
