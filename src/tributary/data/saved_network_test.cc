#include "tributary/data/saved_network.h"

#include <gtest/gtest.h>

#include "tributary/model/model.h"

namespace tributary::inline data {
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

TEST(SavedNetwork, BringsTheGraphOfANetworkThatIsNotOfTheZoo) {
  SavedNetwork network;
  GraphBuilder builder("mine", Shape{3, 8, 8});
  builder.Add("head", Linear{4}, {builder.Add("flatten", Flatten{}, {0})});
  network.zoo = {.name = "mine", .input = Shape{3, 8, 8}, .classes = 4};
  network.zoo.imported = std::make_shared<const Graph>(std::move(builder).Build().value());
  auto read = FromMetadata(ToMetadata(network));
  ASSERT_TRUE(read.ok() && read->has_value()) << read.status();
  const auto graph = BuildZooGraph((*read)->zoo);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->name(), "mine");
  EXPECT_EQ(graph->node(2).name, "head");
  // Of other samples or more classes it says so.
  (*read)->zoo.input = Shape{1, 8, 8};
  EXPECT_EQ(BuildZooGraph((*read)->zoo).status().message(),
            "mine takes samples of 3x8x8, and these are 1x8x8");
  (*read)->zoo.input.reset();
  (*read)->zoo.classes = 5;
  EXPECT_EQ(BuildZooGraph((*read)->zoo).status().message(), "mine knows 4 classes, and there are 5");
  Metadata broken = ToMetadata(network);
  std::string& text = broken.at("tributary");
  text.replace(text.find("flatten"), 7, "flat en");
  EXPECT_FALSE(FromMetadata(broken).ok());
}

TEST(SavedNetwork, RemembersWhereItWasCut) {
  SavedNetwork network;
  network.zoo = {"resnet8", Shape{3, 32, 32}, 10, Stem::kAuto, "layer1.0.relu", "layer2.0.relu"};
  const auto both = FromMetadata(ToMetadata(network));
  ASSERT_TRUE(both.ok() && both->has_value());
  EXPECT_EQ((*both)->zoo.cut, "layer1.0.relu");
  EXPECT_EQ((*both)->zoo.tail, "layer2.0.relu");
  // Its norms are those of a network that was cut: group norms at both ends, which have no running statistics.
  const auto statistics = [](const ZooOptions& zoo) {
    return Model(BuildZooGraph(zoo).value()).statistics.size;
  };
  EXPECT_GT(statistics((*both)->zoo), 0U);
  network.zoo.tail.clear();
  const auto front = FromMetadata(ToMetadata(network));
  EXPECT_EQ((*front)->zoo.tail, "");
  EXPECT_GT(statistics((*front)->zoo), statistics((*both)->zoo));
  network.zoo.cut.clear();
  const auto none = FromMetadata(ToMetadata(network));
  EXPECT_EQ((*none)->zoo.cut, "");
  EXPECT_GT(statistics((*none)->zoo), statistics((*front)->zoo));
  EXPECT_EQ(ToMetadata(network).at("tributary").find("cut"), std::string::npos);  // as files were before
}

TEST(SavedNetwork, RemembersHowNarrowItIs) {
  SavedNetwork network;
  network.zoo = {"resnet8", Shape{3, 32, 32}, 10};
  network.zoo.width = 0.5;
  const auto read = FromMetadata(ToMetadata(network));
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_EQ((*read)->zoo.width, 0.5);
  const auto size = [](const ZooOptions& zoo) { return Model(BuildZooGraph(zoo).value()).parameters.size; };
  EXPECT_EQ(size((*read)->zoo), size(network.zoo));
  network.zoo.width = 1;
  EXPECT_LT(size((*read)->zoo), size(network.zoo) / 2);
  for (const double width : {0.0, -1.0, 1.5}) {
    network.zoo.width = width;
    EXPECT_FALSE(BuildZooGraph(network.zoo).ok()) << width;
  }
}

TEST(SavedNetwork, OthersFilesAreNotOursAndBrokenOnesAreRefused) {
  EXPECT_FALSE(FromMetadata({{"format", "pt"}})->has_value());
  for (const char* bad :
       {"", "{", "[]", "{}", R"({"classes": 1e99, "mean": [], "deviation": []})",
        R"({"classes": 10, "mean": ["x"], "deviation": [], "input": "3x2x2", "stem": "auto"})",
        R"({"classes": 10, "mean": [], "deviation": [], "input": "3x2", "stem": "auto"})"}) {
    EXPECT_FALSE(FromMetadata({{"tributary", bad}}).ok()) << bad;
  }
}

}  // namespace
}  // namespace tributary::inline data
