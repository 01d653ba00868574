#include <gtest/gtest.h>

#include "tributary/cli/saved_network.h"
#include "tributary/cli/table.h"

namespace tributary {
namespace {

TEST(TextTable, LinesUpNumbersOnTheRightAndWordsOnTheLeft) {
  TextTable table({"name", "n"});
  table.AddRow({"a", "1"});
  table.AddRow({"größer", "12,345"});
  EXPECT_EQ(table.Format(), "name         n\na            1\ngrößer  12,345\n");
}

TEST(FormatThousands, PutsCommasBetweenGroupsOfThree) {
  EXPECT_EQ(FormatThousands(0), "0");
  EXPECT_EQ(FormatThousands(999), "999");
  EXPECT_EQ(FormatThousands(11'689'512), "11,689,512");
  EXPECT_EQ(FormatThousands(-123'456), "-123,456");
}

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
