#include "tributary/fleet/front_file.h"

#include <gtest/gtest.h>

#include "tributary/base/file.h"
#include "tributary/model/zoo.h"

namespace tributary::inline fleet {
namespace {

const char* const kTwo = R"({
  "model": "cnn", "cost": "macs", "batch": 32, "note": "passed over",
  "cost_model": {"fixed_s": 0.001, "per_mac_s": 1e-11, "per_byte_s": 0},
  "groups": [{"name": "conv1", "channels": 32}, {"name": "conv2", "channels": 64}],
  "front": [{"dropout": [0.5, 0.75], "macs": 1000, "time_ms": 2.5, "convergence": 1.5},
            {"dropout": [0, 0], "macs": 4000, "time_ms": 5, "convergence": 1.25}]})";

// The text with one piece of it replaced.
std::string With(const std::string& piece, const std::string& other) {
  std::string text = kTwo;
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), other);
}

TEST(FrontFile, ComesBackAsItWasWritten) {
  const auto front = ParseFront(kTwo);
  ASSERT_TRUE(front.ok()) << front.status();
  EXPECT_EQ(front->model, "cnn");
  EXPECT_EQ(front->cost, FrontCost::kMacs);
  EXPECT_EQ(front->batch, 32u);
  EXPECT_EQ(front->cost_model.per_mac, 1e-11);
  EXPECT_EQ(front->groups[1], (ParetoFront::Group{"conv2", 64}));
  EXPECT_EQ(front->points[0], (FrontPoint{{0.5, 0.75}, 1000, 2.5, 1.5}));
  FrontExtras extras;
  extras.data = "glyphs";
  extras.uniform = front->points;
  EXPECT_EQ(front->untrained, std::nullopt);
  EXPECT_EQ(front->channels, ChannelChoice::kRandom);
  ParetoFront measured = *front;
  measured.untrained = 1.0 / 3 + 2;
  measured.channels = ChannelChoice::kFirst;
  const auto again = ParseFront(FormatFront(measured, extras));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->untrained, measured.untrained);
  EXPECT_EQ(again->channels, ChannelChoice::kFirst);
  EXPECT_EQ(again->points, front->points);
  EXPECT_EQ(again->groups, front->groups);
  EXPECT_EQ(again->cost_model.fixed, front->cost_model.fixed);
}

TEST(FrontFile, SaysWhatIsWrongAndWhere) {
  const auto expect = [](const std::string& text, const std::string& message) {
    const auto front = ParseFront(text);
    ASSERT_FALSE(front.ok()) << text;
    EXPECT_NE(front.status().message().find(message), std::string::npos) << front.status();
  };
  expect("{", "not JSON");
  expect("[1]", "not an object");
  expect("{}", "it has no 'model'");
  expect(With("\"front\"", "\"fronts\""), "it has no 'front'");
  expect(With("[0.5, 0.75]", "[0.5, 1]"), "point 0 of the front: the dropout rate of group 1 is 1;");
  expect(With("[0.5, 0.75]", "[-0.5, 0]"), "the dropout rate of group 0 is -0.5");
  expect(With("[0.5, 0.75]", "[0.5]"), "it has 1 dropout rates, and there are 2 channel groups");
  expect(With("[0.5, 0.75]", "[0.5, \"x\"]"), "entry 0 of 'front': its 'dropout' has \"x\"");
  expect(With("\"macs\": 1000", "\"macs\": 5000"), "sorted by ascending macs");
  expect(With("\"convergence\": 1.5", "\"convergence\": null"),
         "entry 0 of 'front': its 'convergence' is null");
  expect(With("\"channels\": 64", "\"channels\": -1"), "entry 1 of 'groups': its 'channels' is -1");
  expect(With("\"channels\": 64", "\"channels\": 0"), "a group has from 1");
  expect(With("\"cost\": \"macs\"", "\"cost\": \"mac\""), "did you mean 'macs'?");
  expect(With("\"batch\": 32", "\"channels\": \"frist\""), "did you mean 'first'?");
  expect(With("\"batch\": 32", "\"channels\": 1"), "its 'channels' is 1, not a text");
  expect(With("\"batch\": 32", "\"untrained\": \"high\""), "its 'untrained' is \"high\", not a number");
  expect(With("\"batch\": 32", "\"untrained\": -1"), "the loss 'untrained' is -1");
  expect(With("1e-11", "-1"), "'per_mac_s' of its cost model is -1");
  expect(std::string(1000, '['), "more levels");
}

TEST(FrontFile, IsReadForItsOwnNetworkOnly) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "front_file_test.json";
  const auto model = [](const char* name) {
    return Model(BuildZooGraph({name, Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  };
  ASSERT_TRUE(WriteFileAtomically(path, kTwo).ok());
  const auto wrong = CheckFrontFits(ReadFront(path).value(), model("resnet8"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_TRUE(wrong.message().starts_with("the front was explored for cnn")) << wrong;

  const Model cnn = model("cnn");
  ParetoFront own;
  own.model = "cnn";
  for (const auto& group : cnn.channels.groups) own.groups.push_back({group.name, group.channels});
  own.points = {{std::vector<double>(own.groups.size(), 0.0), 10, 1, 2}};
  ASSERT_TRUE(WriteFileAtomically(path, FormatFront(own)).ok());
  EXPECT_TRUE(CheckFrontFits(ReadFront(path).value(), cnn).ok());
  ASSERT_TRUE(WriteFileAtomically(path, "{").ok());
  const auto broken = ReadFront(path);
  EXPECT_TRUE(broken.status().message().starts_with(path.string() + ": ")) << broken.status();
  std::filesystem::remove(path);
  EXPECT_FALSE(ReadFront(path).ok());
}

}  // namespace
}  // namespace tributary::inline fleet
