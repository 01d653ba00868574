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

class OwnerLimitsTest : public DeviceRuntimeTest {
 protected:
  std::unique_ptr<DeviceRuntime> LimitedTo(const OwnerLimits& limits) {
    return std::make_unique<DeviceRuntime>(DeviceRuntimeOptions{.limits = limits, .state = state_}, *clock_);
  }
  // What a device with these limits says to a network of the experiment.
  std::string RefusalOf(const OwnerLimits& limits, const std::string& text) {
    const auto ready = LimitedTo(limits)->Prepare(SilentWelcome(text));
    if (!ready.ok()) {
      EXPECT_FALSE(std::filesystem::exists(state_));
    }
    return ready.status().message();
  }

  const std::filesystem::path state_ = std::filesystem::path(::testing::TempDir()) / "owner-limits-test";
};

const std::string kGradients = "[train]\nmethod = \"sync-sgd\"\nbatch = 8\n";

TEST_F(OwnerLimitsTest, ANetworkThatTakesMoreThanTheOwnerAllowsIsRefused) {
  EXPECT_NE(RefusalOf({.most_memory = {100'000}}, TextOf(kGradients)).find("--most-memory"),
            std::string::npos);
  EXPECT_NE(RefusalOf({.most_parameters = 1000}, TextOf(kGradients)).find("--most-parameters"),
            std::string::npos);
  EXPECT_EQ(RefusalOf({.most_memory = {1'000'000'000}, .most_parameters = 1'000'000}, TextOf(kGradients)),
            "");
}

// Past the memory of any machine, it is refused before any of it is taken.
TEST_F(OwnerLimitsTest, ANetworkBeyondTheMachineIsRefusedBeforeItIsMade) {
  std::string text = TextOf(kGradients);
  text.replace(text.find("batch = 8"), 9, "batch = 1000000");
  const std::string refusal = RefusalOf({.most_memory = {8'000'000'000}}, text);
  EXPECT_NE(refusal.find("training the network with batches of 1000000 takes about"), std::string::npos)
      << refusal;
}

TEST_F(OwnerLimitsTest, AssignmentsBeyondTheLimitsAreRefusedAndNothingLeaves) {
  const OwnerLimits limits{
      .least_batch = 4, .most_steps = 10, .most_memory = {1'000'000'000}, .most_time = std::chrono::hours(1)};
  const auto device = LimitedTo(limits);
  ASSERT_TRUE(device->Prepare(SilentWelcome(TextOf(kGradients))).ok());
  const auto refusal = [&](const auto& change) {
    TrainAssignment train{.batch = 8};
    change(train);
    CountedTransfers transfers;
    const auto answer = device->Do({.work = train}, transfers);
    if (!answer.ok()) {
      EXPECT_EQ(transfers.left, 0);
    }
    return answer.status().message();
  };
  EXPECT_EQ(refusal([](TrainAssignment&) {}), "");
  EXPECT_NE(refusal([](TrainAssignment& train) { train.batch = 1; }).find("--least-batch"),
            std::string::npos);
  EXPECT_NE(refusal([](TrainAssignment& train) {
              train.answer = TrainAssignment::Answer::kChange;
              train.batch = 1;
              train.steps = 3;
            }).find("--least-batch"),
            std::string::npos);
  EXPECT_NE(refusal([](TrainAssignment& train) {
              train.answer = TrainAssignment::Answer::kChange;
              train.steps = 1'000'000'000;
            }).find("--most-steps"),
            std::string::npos);
  EXPECT_NE(refusal([](TrainAssignment& train) {
              train.answer = TrainAssignment::Answer::kChange;
              train.epochs = 1'000'000'000;
            }).find("--most-steps"),
            std::string::npos);
  EXPECT_NE(refusal([](TrainAssignment& train) { train.batch = std::size_t{1} << 40; }).find("of memory"),
            std::string::npos);
  CountedTransfers transfers;
  const auto calibrated = device->Do({.work = CalibrateAssignment{.steps = 11, .batch = 8}}, transfers);
  EXPECT_NE(calibrated.status().message().find("--most-steps"), std::string::npos);
}

TEST_F(OwnerLimitsTest, AnAssignmentThatTransfersMoreThanTheOwnerAllowsIsRefusedAndNothingLeaves) {
  const auto probe = LimitedTo({});
  ASSERT_TRUE(probe->Prepare(SilentWelcome(TextOf(kGradients))).ok());
  const auto model = static_cast<std::int64_t>(
      (probe->size(Array::kParameters) + probe->size(Array::kStatistics)) * sizeof(float));
  // The weights come, and an update as large goes.
  for (const std::int64_t bytes : {2 * model - 1, 2 * model}) {
    const auto device = LimitedTo({.most_bytes = {bytes}});
    ASSERT_TRUE(device->Prepare(SilentWelcome(TextOf(kGradients))).ok());
    CountedTransfers transfers;
    const auto answer = device->Do({.work = TrainAssignment{.batch = 8}}, transfers);
    EXPECT_EQ(answer.ok(), bytes == 2 * model) << answer.status();
    if (answer.ok()) continue;
    EXPECT_NE(answer.status().message().find("--most-bytes"), std::string::npos) << answer.status();
    EXPECT_EQ(transfers.left, 0);
  }
}

TEST_F(OwnerLimitsTest, TrainingEndsWhenItsTimeIsOver) {
  const auto device = LimitedTo({.most_time = std::chrono::nanoseconds(1)});
  ASSERT_TRUE(device->Prepare(SilentWelcome(TextOf(kGradients))).ok());
  TrainAssignment train{.answer = TrainAssignment::Answer::kChange, .steps = 1000, .batch = 8};
  CountedTransfers transfers;
  const auto answer = device->Do({.work = train}, transfers);
  EXPECT_NE(answer.status().message().find("--most-seconds"), std::string::npos) << answer.status();
}

}  // namespace
}  // namespace tributary::inline device
