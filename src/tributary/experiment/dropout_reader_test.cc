// [dropout]: what it reads, what it refuses, and that it comes back from its own text.

#include <gtest/gtest.h>

#include "tributary/base/file.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"
#include "tributary/fleet/front_file.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/testing_front.h"

namespace tributary::inline experiment {
namespace {

using testing::kLeast;

std::shared_ptr<const ParetoFront> CnnFront() {
  return testing::FrontFor(Model(BuildZooGraph({.name = "cnn"}).value()), {0.5});
}

// The least experiment with a deadline, and with these lines in [dropout].
std::string WithDropout(std::string_view lines, std::string_view fleet = "[fleet]\ndeadline = \"5s\"\n") {
  std::string text(kLeast);
  text.insert(text.find("[[fleet.group]]"), fleet);
  return text + "[dropout]\n" + std::string(lines);
}

StatusOr<Experiment> ReadIt(std::string_view text, std::optional<std::filesystem::path> folder = {}) {
  return ReadExperimentText(text, {"e.toml", folder});
}

void ExpectRefusal(std::string_view text, std::string_view words) {
  const auto read = ReadIt(text);
  ASSERT_FALSE(read.ok()) << words;
  EXPECT_NE(read.status().message().find(words), std::string::npos) << read.status();
}

TEST(DropoutReader, ComesBackFromItsOwnText) {
  const auto there_and_back = [](std::string_view text, std::optional<std::filesystem::path> folder = {}) {
    const auto read = ReadIt(text, folder);
    EXPECT_TRUE(read.ok()) << read.status();
    const auto again = ReadIt(FormatExperiment(*read));  // which may not name files
    EXPECT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(FormatExperiment(*again), FormatExperiment(*read));
    return again->dropout;
  };
  EXPECT_EQ(there_and_back(kLeast).method, SubnetworkRuleNamed("full"));
  const DropoutOptions small = there_and_back(WithDropout("method = \"small\"\nwidth = 0.25"));
  EXPECT_EQ(small.method, SubnetworkRuleNamed("small"));
  EXPECT_EQ(small.width, 0.25);
  const DropoutOptions rolex =
      there_and_back(WithDropout("method = \"fedrolex\"\nwidths = [0.1, 0.7]\nscaling = \"inverse\""));
  EXPECT_EQ(rolex.method, SubnetworkRuleNamed("fedrolex"));
  EXPECT_EQ(rolex.widths, (std::vector<double>{0.1, 0.7}));
  EXPECT_EQ(rolex.scaling, ScalingChoice::kInverse);

  const std::filesystem::path folder = ::testing::TempDir();
  ASSERT_TRUE(WriteFileAtomically(folder / "dropout_reader_test.json", FormatFront(*CnnFront())).ok());
  const DropoutOptions pareto = there_and_back(
      WithDropout(
          "method = \"pareto\"\nfront = \"dropout_reader_test.json\"\ncost = \"time\"\nchannels = \"first\"\n"
          "mean = \"trained\""),
      folder);
  std::filesystem::remove(folder / "dropout_reader_test.json");
  ASSERT_NE(pareto.front, nullptr);
  const DropoutOptions built_in = there_and_back(WithDropout("method = \"pareto\"\nfront = \"resnet8\""));
  EXPECT_EQ(built_in.front->model, "resnet8");
  EXPECT_GT(built_in.front->points.size(), 3U);
  EXPECT_EQ(pareto.front->points, CnnFront()->points);
  EXPECT_EQ(pareto.front->cost_model.per_mac, CnnFront()->cost_model.per_mac);
  EXPECT_EQ(pareto.cost, FrontCost::kTime);
  EXPECT_EQ(pareto.channels, ChannelChoice::kFirst);
  EXPECT_EQ(pareto.mean, MeanOver::kTrained);
}

// Where it does not say, channels are those that the front was explored with.
TEST(DropoutReader, TakesTheChannelsOfTheFront) {
  ParetoFront front = *CnnFront();
  const auto channels = [&](ChannelChoice explored, std::string_view said) {
    front.channels = explored;
    const auto read = ReadIt(WithDropout("method = \"pareto\"\nfront = '" + FormatFrontOnALine(front) +
                                         "'\n" + std::string(said)));
    EXPECT_TRUE(read.ok()) << read.status();
    return read->dropout.channels;
  };
  EXPECT_EQ(channels(ChannelChoice::kRandom, ""), ChannelChoice::kRandom);
  EXPECT_EQ(channels(ChannelChoice::kFirst, ""), ChannelChoice::kFirst);
  EXPECT_EQ(channels(ChannelChoice::kFirst, "channels = \"random\""), ChannelChoice::kRandom);
  EXPECT_EQ(channels(ChannelChoice::kRandom, "channels = \"first\""), ChannelChoice::kFirst);
}

TEST(DropoutReader, SaysWhatIsWrong) {
  ExpectRefusal(WithDropout("method = \"heterofll\""), "did you mean 'heterofl'?");
  ExpectRefusal(WithDropout("method = \"heterofl\"", ""), "give fleet.deadline");
  ExpectRefusal(WithDropout("method = \"small\""), "dropout.width is missing");
  ExpectRefusal(WithDropout("method = \"small\"\nwidth = 0"), "dropout.width is 0");
  ExpectRefusal(WithDropout("width = 0.5"), "is only valid with method = \"small\"");
  ExpectRefusal(WithDropout("method = \"pareto\""), "`tributary explore cnn` makes one");
  ExpectRefusal(WithDropout("method = \"fjord\"\nwidths = [0.5, 0.5]"), "must rise");
  ExpectRefusal(WithDropout("method = \"fjord\"\nwidths = [0.5, 1.5]"), "dropout.widths is 1.5");
  ExpectRefusal(WithDropout("method = \"fjord\"\nwidths = []"), "a list of 1 to 64 numbers");
  ExpectRefusal(WithDropout("method = \"fjord\"\ncost = \"time\""), "dropout.front is missing");
  ExpectRefusal(WithDropout("scaling = \"none\""), "whose devices choose");
  ExpectRefusal(WithDropout("method = \"fjord\"\nchannels = \"first\""),
                "only valid with method = \"pareto\"");
  ExpectRefusal(WithDropout("method = \"heterofl\"\nmean = \"all\""),
                "only valid with method = \"fjord\" or \"pareto\"");
  ExpectRefusal(WithDropout("method = \"pareto\"\nfront = \"front.json\""), "may not name files");
  ExpectRefusal(WithDropout("method = \"pareto\"\nfront = \"resnet9\""), "did you mean 'resnet8'?");
  ExpectRefusal(WithDropout("method = \"pareto\"\nfront = \"{}\""), "it has no 'model'");
  std::string rate = FormatFrontOnALine(*CnnFront());
  const std::size_t at = rate.find("0.25");
  ASSERT_NE(at, std::string::npos);
  rate.replace(at, 4, "1.25");
  ExpectRefusal(WithDropout("method = \"pareto\"\nfront = '" + rate + "'"), "1.25");
  const auto missing =
      ReadIt(WithDropout("method = \"pareto\"\nfront = \"no-such.json\""), ::testing::TempDir());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound) << missing.status();
}

}  // namespace
}  // namespace tributary::inline experiment
