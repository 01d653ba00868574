#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::string_view kTwoAxes = R"toml(schema = 1
name = "axes"
about = "on {data}"
preset = "smoke"
seeds = 4
set = ["data.set={data}"]
notes = ["all"]
metric = [{ name = "accuracy", percent = true, decimals = 1 }]
comparison = [{ name = "gained", metric = "accuracy", kind = "difference", baseline = "base" }, { name = "times", metric = "accuracy" }]
published = [{ arms = ["a16-fast", "a32-fast"], figure = "accuracy", value = 0.5, where = "Table 1" }]

[[variant]]
size = "full"
seeds = 5
words = { data = "glyphs" }
notes = ["long"]

[[variant]]
data = "fashion-mnist"
words = { data = "fashion-mnist" }

[[variant]]
words = { data = "glyphs" }

[[axis.batch]]
name = "16"
text = "sixteen"
set = ["train.batch=16"]

[[axis.batch]]
name = "32"
text = "thirty-two"
set = ["train.batch=32"]

[[axis.speed]]
name = "slow"

[[axis.speed]]
name = "fast"
set = ["fleet.group.0.compute=9G"]
against = { times = "a{batch}-slow" }
once = true

[[arm]]
name = "base"

[[arm]]
name = "a{batch}-{speed}"
text = "{batch.text}, {speed}"
over = ["batch", "speed"]
full = { set = ["train.momentum=0.5"] }

[[arm]]
name = "long"
size = "full"
)toml";

StatusOr<Study> Read(std::string_view text, Effort effort = Effort::kQuick,
                     const std::filesystem::path& data = {}) {
  return ReadStudyText(text, {"my.toml", std::nullopt}, effort, data);
}

TEST(StudyFile, HasAnArmForEachCombinationOfItsAxes) {
  const auto study = Read(kTwoAxes);
  ASSERT_TRUE(study.ok()) << study.status();
  const Reproduction& reproduction = study->reproduction;
  std::vector<std::string> names;
  for (const Arm& arm : reproduction.arms) names.push_back(arm.name);
  EXPECT_EQ(names, (std::vector<std::string>{"base", "a16-slow", "a16-fast", "a32-slow", "a32-fast"}));
  EXPECT_EQ(reproduction.arms[4].description, "thirty-two, fast");
  EXPECT_EQ(study->plans.at("a32-fast").experiment.train.batch, 32);
  EXPECT_EQ(study->plans.at("a32-fast").experiment.fleet.groups[0].compute.numbers[0], 9e9);
  EXPECT_TRUE(study->plans.at("a32-fast").once);
  EXPECT_FALSE(study->plans.at("a32-slow").once);
  EXPECT_EQ(study->seeds.size(), 4U);
  EXPECT_EQ(reproduction.about, "on glyphs");
  EXPECT_EQ(reproduction.comparisons[0].baselines.size(), 4U);
  EXPECT_EQ(reproduction.comparisons[1].baselines,
            (std::map<std::string, std::string>{{"a16-fast", "a16-slow"}, {"a32-fast", "a32-slow"}}));
  EXPECT_EQ(reproduction.published.size(), 2U);
}

TEST(StudyFile, TakesTheFirstVariantThatFits) {
  const Study full = Read(kTwoAxes, Effort::kFull).value();
  EXPECT_EQ(full.seeds.size(), 5U);
  EXPECT_EQ(full.reproduction.notes, (std::vector<std::string>{"all", "long"}));
  EXPECT_TRUE(full.plans.contains("long"));
  EXPECT_EQ(full.plans.at("a16-slow").experiment.train.optimiser.momentum, 0.5);
  EXPECT_EQ(full.plans.at("base").experiment.train.optimiser.momentum, 0.9);

  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("tributary_study_file_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "fashion-mnist");
  EXPECT_EQ(Read(kTwoAxes, Effort::kQuick, folder)->reproduction.about, "on fashion-mnist");
  std::filesystem::remove_all(folder);
}

TEST(StudyFile, FingerprintsChangeWithEverythingThatResultsDependOn) {
  const auto fingerprint = [](const std::string& from, const std::string& to) {
    std::string text(kTwoAxes);
    text.replace(text.find(from), from.size(), to);
    const Study study = Read(text).value();
    return study.reproduction.arms[4].fingerprint;
  };
  const std::string plain = fingerprint("seeds = 4", "seeds = 4");
  EXPECT_EQ(fingerprint("seeds = 4", "seeds = 9"), plain);
  EXPECT_EQ(fingerprint("thirty-two", "32"), plain);
  EXPECT_NE(fingerprint("seeds = 4", "target-accuracy = 0.5"), plain);
  EXPECT_NE(fingerprint("once = true", "once = false"), plain);
  EXPECT_NE(fingerprint("once = true", "curve = false"), plain);
  EXPECT_NE(fingerprint("compute=9G", "compute=8G"), plain);
}

TEST(StudyFile, ErrorsSayWhereAndWhatIsAllowed) {
  const auto expect = [](const std::string& from, const std::string& to, const std::string& part) {
    std::string text(kTwoAxes);
    text.replace(text.find(from), from.size(), to);
    const Status status = Read(text).status();
    EXPECT_NE(status.message().find(part), std::string::npos) << to << ": " << status;
  };
  expect("seeds = 4", "seds = 4", "my.toml:5: unknown section 'seds'; did you mean 'seeds'?");
  expect("seeds = 4", "seeds = 0", "my.toml:5: seeds is 0; allowed: a whole number from 1 to 1000");
  expect("seeds = 4", "samples = 100", "samples is only valid with train.method = \"sync-sgd\"");
  expect("seeds = 4", "epochs = 3", "epochs is only valid with");
  expect("schema = 1\n", "", "schema is missing");
  expect("set = [\"data", "set = [3, \"data", "my.toml:6: set is a list of 2; allowed: a list of texts");
  expect("{data}", "{dta}", "about: unknown word 'dta'; did you mean 'data'?");
  expect("\"smoke\"", "\"smok\"", "unknown preset 'smok'; did you mean 'smoke'?");
  expect("\"smoke\"", "\"/etc/passwd\"", "is a file; allowed here: presets");
  expect("name = \"accuracy\"", "name = \"acuracy\"",
         "metric.name: unknown metric 'acuracy'; did you mean 'accuracy'?");
  expect("kind = \"difference\"", "kind = \"diference\"", "did you mean 'difference'?");
  expect("baseline = \"base\"", "baseline = \"bse\"", "unknown arm 'bse'");
  expect("size = \"full\"", "size = \"fll\"", "variant.size: unknown size 'fll'; did you mean 'full'?");
  expect("train.batch=16", "train.batc=16",
         "arm 'a16-slow': --set train.batc=16: unknown key in [train] 'batc'");
  expect("times = \"a", "time = \"a", "unknown comparison 'time'; did you mean 'times'?");
  expect("over = [\"batch\"", "over = [\"bath\"",
         "my.toml:50: arm.over: unknown axis 'bath'; did you mean 'batch'?");
  expect("full = { set", "full = { sets", "unknown key in [arm.full] 'sets'; did you mean 'set'?");
  expect("name = \"base\"\n", "name = \"base\"\ncounterpart = true\n", "needs an experiment with [against]");
  expect("name = \"base\"\n", "name = \"base\"\ngrid = \"batch\"\n", "names the axis that the arm is over");
  expect("name = \"base\"\n", "name = \"base\"\ntuned = \"batch\"\n", "needs arms with grid = \"batch\"");
  expect("name = \"base\"\n", "name = \"base\"\nwithin = \"a16-slow\"\n", "only valid with epochs");
  expect("name = \"base\"\n", "name = \"a16-slow\"\n", "another arm has this name");
  expect("name = \"axes\"", "name = \"../axes\"", "cannot be part of a file's name");
  expect("[[variant]]\nwords", "[[variant]]\nsize = \"full\"\nwords", "none is for the size 'quick'");
}

TEST(StudyFile, IsBoundedHoweverManyArmsItAsksFor) {
  std::string text = "schema = 1\nname = \"many\"\npreset = \"smoke\"\nmetric = [{ name = \"accuracy\" }]\n";
  for (int i = 0; i < 30; ++i) {
    for (const char* axis : {"a", "b", "c"}) {
      text += "[[axis." + std::string(axis) + "]]\nname = \"" + std::to_string(i) + "\"\n";
    }
  }
  text += "[[arm]]\nname = \"x{a}-{b}-{c}\"\nover = [\"a\", \"b\", \"c\"]\n";
  EXPECT_NE(Read(text).status().message().find("more than 512 experiments"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline reproduce
