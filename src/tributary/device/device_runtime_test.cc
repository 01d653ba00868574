#include "tributary/device/device_runtime.h"

#include <gtest/gtest.h>

#include "tributary/device/setting.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline device {
namespace {

// Counts what leaves the device, and has all weights at once.
class CountedTransfers : public Transfers {
 public:
  bool AwaitUnit(std::size_t) override { return true; }
  Status AwaitAll() override { return OkStatus(); }
  void UnitReady(const Update&, std::size_t) override { ++left; }
  Status Finish() override { return OkStatus(); }
  Status Push(Array, std::span<const std::byte>, double) override { return Leave(); }
  StatusOr<std::vector<std::byte>> AwaitSamples() override { return std::vector<std::byte>(); }
  Status PushSamples(std::span<const std::byte>, std::size_t) override { return Leave(); }
  StatusOr<std::vector<std::byte>> Cross(int, ByteSpan, std::size_t down) override {
    ++left;
    return std::vector<std::byte>(down);
  }
  Status Offer(const SharedWeights&) override { return Leave(); }
  StatusOr<std::vector<Met>> Meet(const TakeModel&) override { return std::vector<Met>(); }
  bool over() const override { return false; }

  int left = 0;

 private:
  Status Leave() {
    ++left;
    return OkStatus();
  }
};

std::string TextOf(const std::string& training) {
  std::string text(tributary::testing::kLeast);
  text.replace(text.find("[train]"), std::string::npos, training);
  return text.replace(text.find("set = \"glyphs\""), 14,
                      "set = \"glyphs\"\ntrain-limit = 64\ntest-limit = 16");
}

// What a coordinator says that hides what it takes.
Welcome SilentWelcome(const std::string& text) {
  const Experiment experiment = ReadExperimentText(text, {"test", std::nullopt}).value();
  const TrainTest data = LoadExperimentData(experiment, {}).value();
  return {.device = DeviceId{0},
          .experiment = text,
          .input = data.train.shape(),
          .classes = data.train.classes(),
          .mean = data.train.normalisation().mean,
          .deviation = data.train.normalisation().deviation,
          .piece_floats = 65536};
}

class DeviceRuntimeTest : public ::testing::Test {
 protected:
  std::unique_ptr<DeviceRuntime> WorkWith(std::vector<std::string> allowed) {
    return std::make_unique<DeviceRuntime>(
        DeviceRuntimeOptions{.consent = Consent::Parse(std::move(allowed)).value(),
                             .state = ::testing::TempDir() + "local-work-test"},
        *clock_);
  }
  // Every one of these is needed, and they are enough.
  void ExpectNeeds(const std::string& training, const std::vector<std::string>& needs) {
    const Welcome welcome = SilentWelcome(TextOf(training));
    EXPECT_TRUE(WorkWith(needs)->Prepare(welcome).ok()) << WorkWith(needs)->Prepare(welcome).status();
    for (const std::string& missing : needs) {
      std::vector<std::string> others = needs;
      std::erase(others, missing);
      const auto ready = WorkWith(others)->Prepare(welcome);
      ASSERT_FALSE(ready.ok()) << missing;
      EXPECT_NE(ready.status().message().find("start it with --allow " + missing), std::string::npos)
          << ready.status();
    }
  }

  const std::unique_ptr<Clock> clock_ = MakeRealClock();
};

const std::string kSplit = "[train]\nmethod = \"split\"\nbatch = 8\n[split]\nserver-compute = \"1G\"\n";

TEST_F(DeviceRuntimeTest, FindsOutByItselfWhatAnExperimentTakesFromIt) {
  ExpectNeeds("[train]\nmethod = \"sync-sgd\"\n", {});
  ExpectNeeds("[train]\nmethod = \"sync-sgd\"\n[injection]\ndevices = 0.5\nshare = 0.5\n", {"samples"});
  ExpectNeeds(kSplit + "cut = \"pool1\"\n", {"activations", "labels"});
  ExpectNeeds(kSplit + "cut = \"pool1\"\ntail = \"flatten\"\n", {"activations"});
  ExpectNeeds(kSplit + "cut = \"pool1\"\n[sampling]\nmethod = \"lds\"\n",
              {"activations", "labels", "label-counts"});
}

TEST_F(DeviceRuntimeTest, TakesACutBeforeAllParametersForTheSamplesThemselves) {
  std::string text = kSplit + "cut = \"flatten\"\n";
  std::string whole = TextOf(text);
  whole.replace(whole.find("name = \"cnn\""), 12, "name = \"mlp\"");
  const Welcome welcome = SilentWelcome(whole);
  const auto refused = WorkWith({"activations", "labels"})->Prepare(welcome);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("--allow samples"), std::string::npos) << refused.status();
  EXPECT_TRUE(WorkWith({"activations", "labels", "samples"})->Prepare(welcome).ok());
}

TEST_F(DeviceRuntimeTest, RefusesACutThatDoesNotExist) {
  for (const char* cut : {"auto", "nowhere"}) {
    const Welcome welcome = SilentWelcome(TextOf(kSplit + "cut = \"" + cut + "\"\n"));
    const auto ready = WorkWith({})->Prepare(welcome);
    EXPECT_FALSE(ready.ok()) << cut;
  }
}

TEST_F(DeviceRuntimeTest, AnswersARequestForSamplesWithARefusalWhereTheExperimentSharesNone) {
  const auto work = WorkWith({"samples"});
  ASSERT_TRUE(work->Prepare(SilentWelcome(TextOf("[train]\nmethod = \"sync-sgd\"\nbatch = 8\n"))).ok());
  TrainAssignment train;
  train.batch = 8;
  for (const auto& [share, received] : {std::pair<std::size_t, std::size_t>{16, 0}, {0, 16}}) {
    CountedTransfers transfers;
    const auto answer = work->Do({.work = train, .share = share, .received = received}, transfers);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.status().message(), "the experiment's devices share no samples");
    EXPECT_EQ(transfers.left, 0);
  }
}

}  // namespace
}  // namespace tributary::inline device
