// [compression] and [aggregation]: what they read from the tables of the program, and what they refuse.

#include <gtest/gtest.h>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kLeast;
using testing::Replaced;

StatusOr<Experiment> ReadWith(std::string_view lines, const Extensions& extensions = {}) {
  return ReadExperimentText(std::string(kLeast) + std::string(lines), {"e.toml", std::nullopt}, {},
                            extensions);
}

std::string RefusalOfLines(std::string_view lines, const Extensions& extensions = {}) {
  return ReadWith(lines, extensions).status().message();
}

AggregationRule RuleWith(std::string name, std::vector<RuleNumber> numbers) {
  return {.name = std::move(name),
          .about = "a rule",
          .make = [](const AggregationScene&) -> StatusOr<std::unique_ptr<Aggregator>> {
            return Unavailable("no rule");
          },
          .numbers = std::move(numbers)};
}

CodecKind CodecWith(std::string name, std::vector<std::string> keys) {
  return {
      .name = std::move(name), .about = "a codec", .make = CodecNamed("int8")->make, .keys = std::move(keys)};
}

TEST(AggregationReader, ReadsTheRuleAndItsNumbers) {
  const auto usual = ReadWith("");
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_EQ(usual->aggregation.rule->name, "mean");
  EXPECT_TRUE(usual->aggregation.numbers.empty());
  const auto trimmed = ReadWith("[aggregation]\nrule = \"trimmed-mean\"\n");
  ASSERT_TRUE(trimmed.ok()) << trimmed.status();
  EXPECT_EQ(trimmed->aggregation.rule->name, "trimmed-mean");
  EXPECT_EQ(trimmed->aggregation.numbers, std::vector<double>{0.1});
  // The order of the lines does not matter.
  const auto more = ReadWith("[aggregation]\ntrim = 0.25\nrule = \"trimmed-mean\"\n");
  ASSERT_TRUE(more.ok()) << more.status();
  EXPECT_EQ(more->aggregation.numbers, std::vector<double>{0.25});
}

TEST(TrustReader, ReadsItsLimitsAndWritesThemIfTheyAreNotTheUsual) {
  const auto usual = ReadWith("");
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_EQ(FormatExperiment(*usual).find("[trust]"), std::string::npos);
  const auto other = ReadWith("[trust]\nlargest-share = 3\nclip = 0\npatience = 2.5\ndivergence = 7\n");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->trust, (TrustOptions{.largest_share = 3, .clip = 0, .patience = 2.5, .divergence = 7}));
  const auto again = ReadExperimentText(FormatExperiment(*other), {"e.toml", std::nullopt});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->trust, other->trust);
  EXPECT_NE(RefusalOfLines("[trust]\nclip = -1\n").find("trust.clip is -1; allowed: a number from 0"),
            std::string::npos)
      << RefusalOfLines("[trust]\nclip = -1\n");
}

// Experiments that leave the rule alone are written as before there were others.
TEST(AggregationReader, TheUsualRuleIsNotWritten) {
  EXPECT_EQ(FormatExperiment(*ReadWith("")).find("[aggregation]"), std::string::npos);
  EXPECT_EQ(FormatExperiment(*ReadWith("[aggregation]\nrule = \"mean\"\n")), FormatExperiment(*ReadWith("")));
  const auto trimmed = ReadWith("[aggregation]\nrule = \"trimmed-mean\"\ntrim = 0.2\n");
  const std::string text = FormatExperiment(*trimmed);
  EXPECT_NE(text.find("\n[aggregation]\nrule = \"trimmed-mean\"\ntrim = 0.2\n"), std::string::npos) << text;
  const auto again = ReadExperimentText(text, {"e.toml", std::nullopt});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->aggregation.rule, trimmed->aggregation.rule);
  EXPECT_EQ(again->aggregation.numbers, trimmed->aggregation.numbers);
}

TEST(AggregationReader, RefusesInWords) {
  EXPECT_EQ(RefusalOfLines("[aggregation]\nrule = \"trimed-mean\"\n"),
            "e.toml:17: aggregation.rule: unknown aggregation rule 'trimed-mean'; did you mean "
            "'trimmed-mean'? Known: mean, trimmed-mean, median, multi-krum, centred-clipping, trusted");
  EXPECT_EQ(RefusalOfLines("[aggregation]\ntrim = 0.2\n"),
            "e.toml:17: aggregation.trim is only valid with rule = \"trimmed-mean\"");
  EXPECT_EQ(RefusalOfLines("[aggregation]\nrule = \"trimmed-mean\"\ntrim = 0.6\n"),
            "e.toml:18: aggregation.trim is 0.6; allowed: a number from 0 to 0.5");
  EXPECT_EQ(RefusalOfLines("[aggregation]\nrule = \"trimmed-mean\"\n[dropout]\nmethod = \"fjord\"\n[fleet]\n"
                           "deadline = 5\n")
                .find("e.toml:17: aggregation.rule is \"trimmed-mean\", which cannot tell"),
            0U);
  const std::string split = Replaced(Replaced(kLeast, "federated", "split"), "local-steps = 5\n", "");
  EXPECT_EQ(ReadExperimentText(split, {"e.toml", std::nullopt},
                               std::vector<std::string>{"aggregation.rule=trimmed-mean"})
                .status()
                .message(),
            "--set aggregation.rule=trimmed-mean: aggregation.rule is \"trimmed-mean\", which compares whole "
            "updates "
            "and is only valid with train.method = \"sync-sgd\" or \"federated\"; use rule = \"mean\"");
}

TEST(AggregationReader, RulesOfAProgramMayShareKeys) {
  Extensions extensions;
  ASSERT_TRUE(
      extensions
          .AddAggregationRule(RuleWith("mine", {{.key = "level", .about = "A level.", .usual = 7, .high = 9},
                                                {.key = "trim", .about = "Mine.", .usual = 2, .high = 3}}))
          .ok());
  const auto mine = ReadWith("[aggregation]\nrule = \"mine\"\ntrim = 3\n", extensions);
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_EQ(mine->aggregation.numbers, (std::vector<double>{7, 3}));
  // Written without the extensions, read with them.
  const std::string text = FormatExperiment(*mine);
  EXPECT_NE(text.find("rule = \"mine\"\n"), std::string::npos) << text;
  const auto again = ReadExperimentText(text, {"e.toml", std::nullopt}, {}, extensions);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->aggregation.numbers, mine->aggregation.numbers);
  EXPECT_EQ(again->aggregation.rule, mine->aggregation.rule);

  const auto refusal = [&](std::string_view lines) {
    return RefusalOfLines("[aggregation]\n" + std::string(lines), extensions);
  };
  EXPECT_EQ(refusal("rule = \"trimmed-mean\"\ntrim = 3\n"),
            "e.toml:18: aggregation.trim is 3; allowed: a number from 0 to 0.5");
  EXPECT_EQ(refusal("rule = \"trimmed-mean\"\nlevel = 3\n"),
            "e.toml:18: aggregation.level is only valid with rule = \"mine\"");
  EXPECT_EQ(refusal("trim = 0.2\n"),
            "e.toml:17: aggregation.trim is only valid with rule = \"trimmed-mean\" or \"mine\"");
}

TEST(CompressionReader, KeysAreValidWithTheCodecsThatUseThem) {
  const auto refusal = [](std::string_view lines, const Extensions& extensions = {}) {
    return RefusalOfLines("[compression]\n" + std::string(lines), extensions);
  };
  EXPECT_EQ(refusal("kind = \"fp16\"\nratio = 0.5\n"),
            "e.toml:18: compression.ratio is only valid with kind = \"top-k\" or \"adaptive-top-k\"");
  EXPECT_EQ(refusal("kind = \"top-k\"\ndelta = 0.5\n"),
            "e.toml:18: compression.delta is only valid with kind = \"adaptive-top-k\"");
  EXPECT_EQ(refusal("error-feedback = false\n"),
            "e.toml:17: compression.error-feedback is only valid with a kind other than \"dense\"");
  const auto fp16 = ReadWith("[compression]\nkind = \"fp16\"\nerror-feedback = false\n");
  ASSERT_TRUE(fp16.ok()) << fp16.status();
  EXPECT_EQ(fp16->compression.kind, CodecNamed("fp16"));
  EXPECT_NE(FormatExperiment(*fp16).find("[compression]\nkind = \"fp16\"\nerror-feedback = false\n\n"),
            std::string::npos);

  Extensions extensions;
  ASSERT_TRUE(extensions.AddCodec(CodecWith("mine", {"ratio"})).ok());
  const auto mine = ReadWith("[compression]\nkind = \"mine\"\nratio = 0.5\n", extensions);
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_NE(FormatExperiment(*mine).find("[compression]\nkind = \"mine\"\nratio = 0.5\n\n"),
            std::string::npos);
  EXPECT_EQ(
      refusal("kind = \"int8\"\nratio = 0.5\n", extensions),
      "e.toml:18: compression.ratio is only valid with kind = \"top-k\", \"adaptive-top-k\" or \"mine\"");
}

TEST(UpdateExtensions, RefuseRulesAndCodecsOfNamesThatAreTaken) {
  Extensions extensions;
  const auto refused = [](const Status& status, const char* why) {
    EXPECT_NE(status.message().find(why), std::string::npos) << status;
  };
  refused(extensions.AddAggregationRule(RuleWith("mean", {})),
          "there is a rule of aggregation 'mean' already");
  refused(extensions.AddAggregationRule(RuleWith("a b", {})), "allowed in its name");
  refused(extensions.AddAggregationRule({.name = "empty"}), "is null");
  refused(extensions.AddCodec(CodecWith("dense", {})), "there is a codec 'dense' already");
  refused(extensions.AddCodec({.name = "empty"}), "is null");
}

}  // namespace
}  // namespace tributary::inline experiment
