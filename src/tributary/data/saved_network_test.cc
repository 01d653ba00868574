#include "tributary/data/saved_network.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(SavedNetwork, ComesBackFromItsMetadata) {
  SavedNetwork network;
  network.zoo = {"resnet8", Shape{3, 32, 32}, 10, Stem::kImageNet};
  network.data = "glyphs";
  network.normalisation = {{0.5F, 0.25F, 0.1F}, {1, 2, 3}};
  const auto read = FromMetadata(ToMetadata(network));
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ((*read)->zoo.name, "resnet8");
  EXPECT_EQ((*read)->zoo.input, network.zoo.input);
  EXPECT_EQ((*read)->zoo.classes, network.zoo.classes);
  EXPECT_EQ((*read)->zoo.stem, Stem::kImageNet);
  EXPECT_EQ((*read)->normalisation, network.normalisation);
}

TEST(SavedNetwork, OthersFilesAreNotOursAndBrokenOnesAreRefused) {
  EXPECT_FALSE(FromMetadata({{"format", "pt"}})->has_value());
  for (const char* bad : {"", "{", "[]", "{}", R"({"classes": 1e99, "mean": [], "deviation": []})",
                          R"({"classes": 10, "mean": ["x"], "deviation": [], "input": "3x2x2", "stem": "auto"})",
                          R"({"classes": 10, "mean": [], "deviation": [], "input": "3x2", "stem": "auto"})"}) {
    EXPECT_FALSE(FromMetadata({{"tributary", bad}}).ok()) << bad;
  }
}

}  // namespace
}  // namespace tributary
