#include <gtest/gtest.h>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kLeast;

StatusOr<ExperimentPair> Pair(const std::string& more, std::vector<std::string> overrides = {}) {
  return ReadExperimentPairText(std::string(kLeast) + "\n" + more, {"e.toml", std::nullopt}, overrides);
}

constexpr char kCompressed[] = R"(
[compression]
kind = "top-k"
ratio = 0.25
[against]
name = "plain"
set = ["compression=", "train.batch=7"]
)";

TEST(ReadExperimentPair, GivesTheSameExperimentWithOtherSettings) {
  const auto pair = Pair(kCompressed);
  ASSERT_TRUE(pair.ok()) << pair.status();
  ASSERT_TRUE(pair->against.has_value());
  EXPECT_EQ(pair->experiment.compression.kind, CodecNamed("top-k"));
  EXPECT_EQ(pair->against->compression.kind, CodecNamed("dense"));
  EXPECT_EQ(pair->against->train.batch, 7);
  EXPECT_EQ(pair->against->goal.name, pair->experiment.goal.name + "-plain");
  Experiment same = *pair->against;
  same.goal.name = pair->experiment.goal.name;
  same.train.batch = pair->experiment.train.batch;
  same.sampling.batch = pair->experiment.sampling.batch;
  same.stream.base_batch = pair->experiment.stream.base_batch;
  same.compression = pair->experiment.compression;
  EXPECT_EQ(FormatExperiment(same), FormatExperiment(pair->experiment));
}

TEST(ReadExperimentPair, IsOneWithoutTheSection) {
  const auto pair = Pair("");
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_FALSE(pair->against.has_value());
}

TEST(ReadExperimentPair, ChangesBothByOverridesAndTakesOutWhatTheyLeft) {
  auto pair = Pair(kCompressed, {"compression.ratio=0.5", "experiment.seed=9", "train.batch=3"});
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_EQ(pair->experiment.compression.ratio, 0.5);
  EXPECT_EQ(pair->experiment.goal.seed, 9u);
  EXPECT_EQ(pair->against->goal.seed, 9u);
  EXPECT_EQ(pair->against->train.batch, 7);  // That is what it is for.
  EXPECT_EQ(pair->against->compression.kind, CodecNamed("dense"));
  pair = Pair(kCompressed, {"compression="});
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_EQ(pair->experiment.compression.kind, CodecNamed("dense"));
  pair = Pair(kCompressed, {"against="});
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_FALSE(pair->against.has_value());
}

TEST(ReadExperimentPair, SaysWhatIsWrongWithTheOther) {
  const auto refusal = [](const std::string& section) { return Pair(section).status().message(); };
  EXPECT_NE(refusal("[against]\nset = [\"train.batch=1\"]").find("against.name is missing"),
            std::string::npos);
  EXPECT_NE(refusal("[against]\nname = \"a\"").find("against.set is missing; it says what is different"),
            std::string::npos);
  EXPECT_NE(refusal("[against]\nname = \"a/b\"\nset = [\"train.batch=1\"]").find("allowed: letters"),
            std::string::npos);
  const std::string long_name(60, 'a');  // Alone it may have so many letters.
  EXPECT_NE(
      refusal("[against]\nname = \"" + long_name + "\"\nset = [\"train.batch=1\"]").find("the name would be"),
      std::string::npos);
  EXPECT_NE(refusal("[against]\nname = \"a\"\nset = 3").find("allowed: a list of settings"),
            std::string::npos);
  EXPECT_NE(refusal("[against]\nname = \"a\"\nset = [\"\"]").find("allowed: a list of settings"),
            std::string::npos);
  EXPECT_NE(refusal("[against]\nname = \"a\"\nsets = []").find("did you mean 'set'"), std::string::npos);
  EXPECT_EQ(
      refusal("[against]\nname = \"a\"\nset = [\"train.batch=0\"]"),
      "e.toml: [against]: --set train.batch=0: train.batch is 0; allowed: a whole number from 1 to 1000000");
  // Whoever wants the experiment alone is told too.
  EXPECT_FALSE(
      ReadExperimentText(std::string(kLeast) + "\n[against]\nname = \"a\"", {"e.toml", std::nullopt}).ok());
}

}  // namespace
}  // namespace tributary::inline experiment
