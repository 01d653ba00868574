// [data]: how folders of pictures and recordings are read; and that it comes back from its own text.

#include <gtest/gtest.h>

#include "tributary/experiment/quantity.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

StatusOr<Experiment> Read(const std::string& lines) {
  std::string text(testing::kLeast);
  const std::string set = "set = \"glyphs\"\n";
  return ReadExperimentText(text.replace(text.find(set), set.size(), lines + "\n"), {"e.toml", {}});
}
std::string Refusal(const std::string& lines) { return Read(lines).status().message(); }

TEST(DataReader, PicturesHaveASizeAndAColour) {
  const auto square = Read("set = \"./photos\"\nimage-size = 64");
  ASSERT_TRUE(square.ok()) << square.status();
  EXPECT_EQ(square->data.images, (ImageSettings{64, 64, ImageColour::kAuto}));
  const auto all =
      Read("set = \"./photos\"\nimage-size = \"48x64\"\ncolour = \"grey\"\nclasses = [\"dog\", \"cat\"]");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->data.images, (ImageSettings{48, 64, ImageColour::kGrey}));
  EXPECT_EQ(all->data.classes, (std::vector<std::string>{"dog", "cat"}));
}

TEST(DataReader, RecordingsHaveWindowsAndColumns) {
  const auto read = Read(
      "set = \"har\"\nwindow = 200\nhop = 10\nlongest-gap = \"1s\"\nmajority = 0.9\ncolumns = [\"x\", "
      "\"y\"]\n"
      "time-column = \"t\"\nlabel-column = \"what\"\ntime-unit = \"1s\"");
  ASSERT_TRUE(read.ok()) << read.status();
  using namespace std::chrono_literals;
  EXPECT_EQ(read->data.sensors, (SensorSettings{{200, 10, 1s, 0.9}, {"x", "y"}, "t", "what", 1s}));
  // And once more from its own text.
  const auto again = ReadExperimentText(FormatExperiment(*read), {"as-run", {}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->data.sensors, read->data.sensors);
}

TEST(DataReader, WhatIsAsUsualIsNotWritten) {
  const std::string text = FormatExperiment(*Read("set = \"glyphs\""));
  for (const char* key : {"image-size", "colour", "window", "hop", "columns", "classes ="}) {
    EXPECT_EQ(text.find(key), std::string::npos) << key;
  }
  const auto pictures = Read("set = \"./photos\"\nimage-size = 64\ncolour = \"grey\"\nclasses = [\"a\"]");
  const auto again = ReadExperimentText(FormatExperiment(*pictures), {"as-run", {}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->data.images, pictures->data.images);
  EXPECT_EQ(again->data.classes, pictures->data.classes);
}

TEST(DataReader, SaysWhatIsAllowed) {
  const auto refused = [](const std::string& lines, const char* why) {
    const std::string message = Refusal(lines);
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  refused("set = \"./a\"\nimage-size = 0",
          "allowed: a side, like 64, or height and width, like 48x64, each from 1 to 4096");
  refused("set = \"./a\"\nimage-size = \"64x\"", "allowed: a side");
  refused("set = \"./a\"\nimage-size = \"4x5x6\"", "allowed: a side");
  refused("set = \"./a\"\nimage-size = true", "allowed: a side");
  refused("set = \"./a\"\ncolour = \"gray\"", "grey");
  refused("set = \"cifar10\"\nimage-size = 32", "image-size");
  refused("set = \"cifar10\"\nwindow = 32", "window");
  refused("set = \"har\"\nwindow = 0", "window");
  refused("set = \"har\"\nmajority = 0.5", "majority");
  refused("set = \"har\"\ncolumns = []", "columns");
  refused("set = \"har\"\ncolumns = [\"x\", \"x\"]", "has 'x' twice");
  refused("set = \"har\"\ntime-unit = \"0s\"", "time-unit");
}

TEST(ParseImageSize, LeavesTheSettingsWhenItRefuses) {
  ImageSettings settings;
  for (const char* text :
       {"", "x", "64 ", "+64", "-1", "5000", "64X64", "64x", "x64", "99999999999999999999"}) {
    EXPECT_FALSE(ParseImageSize(text, settings).ok()) << text;
  }
  EXPECT_EQ(settings, ImageSettings());
  ASSERT_TRUE(ParseImageSize("7x9", settings).ok());
  EXPECT_EQ(FormatImageSize(settings), "7x9");
}

}  // namespace
}  // namespace tributary::inline experiment
