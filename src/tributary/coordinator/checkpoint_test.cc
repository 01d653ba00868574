#include "tributary/coordinator/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "tributary/base/rng.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline coordinator {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  ~CheckpointTest() override { std::filesystem::remove(path_); }

  std::vector<std::byte> Written(const Checkpoint& checkpoint, std::span<const SafetensorsSource> arrays) {
    const Status status = WriteCheckpoint(path_, checkpoint, arrays);
    EXPECT_TRUE(status.ok()) << status;
    return ReadFile(path_, Bytes{1 << 20}).value();
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("checkpoint_test_" + std::to_string(::getpid()));
};

Checkpoint Sample() {
  return {
      .progress = {12, Duration(1'234'567'890'123), 3, 4, 0.1 + 0.2, 9},
      .experiment = "schema = 1\n[experiment]\nname = \"é\"\n",
      .log_bytes = 4711,
      .members = {{"workshop", 100, 3, 1'700'000'000'000'000, {std::byte{1}, std::byte{2}, std::byte{255}}},
                  {"käfer \"7\"", 0, 0, 0, {std::byte{9}, std::byte{8}}}}};
}

const std::vector<float> kParameters = {1, -0.0F, 1e-42F};
const std::vector<float> kStatistics = {std::numeric_limits<float>::infinity(), 3};
const std::vector<SafetensorsSource> kArrays = {{"parameters", {3}, kParameters},
                                                {"statistics", {2}, kStatistics}};

// The file's arrays, as bits.
std::vector<std::uint32_t> Contents(const CheckpointFile& file) {
  std::vector<float> parameters(3), statistics(2);
  const std::vector<CheckpointFile::Target> targets = {{"statistics", statistics},
                                                       {"parameters", parameters}};
  const Status status = file.CopyTo(targets);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<std::uint32_t> bits(5);
  std::memcpy(bits.data(), parameters.data(), 12);
  std::memcpy(bits.data() + 3, statistics.data(), 8);
  return bits;
}

TEST(FormatCheckpoint, KeepsWhoHasBeenRemoved) {
  Checkpoint checkpoint = Sample();
  checkpoint.members[0].standing = Standing::kBanned;
  checkpoint.members[1].standing = Standing::kDropped;
  const std::string text = FormatCheckpoint(checkpoint).value();
  EXPECT_EQ(ParseCheckpoint(text, 5)->members[0].standing, Standing::kBanned);
  EXPECT_EQ(ParseCheckpoint(text, 5)->members[1].standing, Standing::kDropped);
  checkpoint.members[1].standing = Standing::kQuarantined;
  EXPECT_EQ(ParseCheckpoint(*FormatCheckpoint(checkpoint), 5)->members[1].standing, Standing::kQuarantined);
  EXPECT_EQ(FormatCheckpoint(Sample())->find("standing"), std::string::npos);  // as versions before
}

TEST(FormatCheckpoint, KeepsTheNormsOfUpdatesAndRefusesWhatIsNone) {
  Checkpoint checkpoint = Sample();
  checkpoint.progress.norms = {0.1 + 0.2, 0, 1e7};
  const auto text = FormatCheckpoint(checkpoint);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(ParseCheckpoint(*text, 5)->progress.norms, checkpoint.progress.norms);
  EXPECT_TRUE(ParseCheckpoint(*FormatCheckpoint(Sample()), 5)->progress.norms.empty());  // as versions before
  checkpoint.progress.norms[1] = -1;
  EXPECT_FALSE(FormatCheckpoint(checkpoint).ok());
  checkpoint.progress.norms.assign(100, 1);
  EXPECT_FALSE(FormatCheckpoint(checkpoint).ok());
}

TEST(FormatCheckpoint, KeepsWhatTellsWhetherTheRunDiverges) {
  Checkpoint checkpoint = Sample();
  RunProgress& progress = checkpoint.progress;
  progress.guard = {{2.3, 0.1 + 0.2}, 2, {{{1}, 1.5}, {{7}, 1e30}}};
  progress.sound_round = progress.round;
  progress.has_sound = true;
  const auto text = FormatCheckpoint(checkpoint);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(ParseCheckpoint(*text, 5)->progress, progress);
  EXPECT_EQ(FormatCheckpoint(Sample())->find("guard"), std::string::npos);  // as versions before
  progress.guard.losses[0] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(FormatCheckpoint(checkpoint).ok());
  progress.guard.losses.assign(100, 1);
  EXPECT_FALSE(FormatCheckpoint(checkpoint).ok());
  progress.guard.losses.clear();
  ++progress.sound_round;
  EXPECT_FALSE(FormatCheckpoint(checkpoint).ok());
}

// In the middle of its third epoch.
Checkpoint WithEpoch() {
  Checkpoint checkpoint = Sample();
  checkpoint.progress.epoch = {3, 11, {{5, 0, 7}, {{2, 3}, {0, 0}, {7, 0}}, {0.1 + 0.2, 0, 1e12}}};
  return checkpoint;
}

TEST_F(CheckpointTest, HoldsEveryNumberToTheBit) {
  Checkpoint extreme = Sample();
  extreme.progress = {std::numeric_limits<std::uint64_t>::max(),
                      Duration::max(),
                      std::numeric_limits<std::uint64_t>::max() - 1,
                      std::numeric_limits<std::uint64_t>::max() - 3,
                      std::nextafter(1.0, 0.0),
                      std::numeric_limits<std::uint64_t>::max() - 2};
  extreme.log_bytes = std::numeric_limits<std::int64_t>::max();
  extreme.members = {{"", std::numeric_limits<std::int64_t>::max()}};
  Checkpoint unevaluated = Sample();
  unevaluated.progress.accuracy.reset();
  Checkpoint sizes_only = WithEpoch();
  sizes_only.progress.epoch.problem.delays.clear();
  sizes_only.progress.epoch.problem.label_counts.clear();
  for (const Checkpoint& checkpoint :
       {Sample(), extreme, unevaluated, Checkpoint{}, WithEpoch(), sizes_only}) {
    Written(checkpoint, kArrays);
    const auto file = CheckpointFile::Read(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->checkpoint(), checkpoint);
    std::vector<std::uint32_t> bits(5);
    std::memcpy(bits.data(), kParameters.data(), 12);
    std::memcpy(bits.data() + 3, kStatistics.data(), 8);
    EXPECT_EQ(Contents(*file), bits);
  }
}

TEST_F(CheckpointTest, EveryOptimiserGoesOnWithTheSameBits) {
  constexpr std::size_t kSize = 37;
  using Made = StatusOr<std::unique_ptr<Optimiser>>;
  const auto adam = [] { return MakeOptimiser({.name = "adam"}, kSize); };
  const std::vector<std::pair<const char*, std::function<Made()>>> makers = {
      {"sgd", [] { return MakeOptimiser({}, kSize); }},
      {"momentum", [] { return MakeOptimiser({.momentum = 0.9, .nesterov = true}, kSize); }},
      {"adam", adam},
      {"server none", [] { return MakeServerOptimiser({.name = "none"}, kSize); }},
      {"server momentum", [] { return MakeServerOptimiser({.name = "momentum"}, kSize); }},
      {"server adam", [] { return MakeServerOptimiser({.name = "adam"}, kSize); }},
      {"server yogi", [] { return MakeServerOptimiser({.name = "yogi"}, kSize); }}};
  for (const auto& [name, make] : makers) {
    Rng rng(5);
    std::vector<float> gradient(kSize), parameters(kSize);
    const auto step = [&](Optimiser& optimiser, std::vector<float>& moved) {
      optimiser.Step(moved, gradient, 0.1);
    };
    const auto draw = [&] {
      std::ranges::generate(gradient, [&] { return static_cast<float>(rng.Uniform() - 0.5); });
    };
    const auto optimiser = make().value();
    for (int i = 0; i < 3; ++i) {
      draw();
      step(*optimiser, parameters);
    }
    std::vector<SafetensorsSource> arrays = {{"parameters", {kSize}, parameters}};
    for (const auto& array : optimiser->State())
      arrays.push_back({std::string(array.name), {kSize}, array.values});
    const auto file =
        CheckpointFile::Parse(Written({.progress = {.optimiser_steps = optimiser->steps()}}, arrays));
    ASSERT_TRUE(file.ok()) << name << file.status();

    const auto restored = make().value();
    std::vector<float> copy(kSize);
    std::vector<CheckpointFile::Target> targets = {{"parameters", copy}};
    for (const auto& array : restored->State()) targets.push_back({std::string(array.name), array.values});
    ASSERT_TRUE(file->CopyTo(targets).ok()) << name;
    restored->set_steps(file->checkpoint().progress.optimiser_steps);
    draw();
    step(*optimiser, parameters);
    step(*restored, copy);
    EXPECT_EQ(copy, parameters) << name;
  }
}

TEST_F(CheckpointTest, EveryChangeOfAByteIsRefusedOrChangesNothing) {
  const std::vector<std::byte> good = Written(Sample(), kArrays);
  const auto expected = Contents(CheckpointFile::Parse(good).value());
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::vector<std::byte> bad = good;
      bad[i] ^= static_cast<std::byte>(change);
      const auto file = CheckpointFile::Parse(std::move(bad));
      if (!file.ok()) {
        EXPECT_EQ(file.status().code(), StatusCode::kCorrupt);
        continue;
      }
      ++harmless;
      ASSERT_EQ(file->checkpoint(), Sample()) << i;
      ASSERT_EQ(Contents(*file), expected) << i;
    }
  }
  EXPECT_LE(harmless, 3U * 7U);  // the three other kinds of white space, in the padding of the header
}

TEST_F(CheckpointTest, EveryTruncationAndAnyRestIsRefused) {
  std::vector<std::byte> bytes = Written(Sample(), kArrays);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(
        CheckpointFile::Parse({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}).ok());
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(CheckpointFile::Parse(bytes).ok());
}

TEST_F(CheckpointTest, IsCopiedOnlyWhereItFitsExactly) {
  const auto file = CheckpointFile::Parse(Written(Sample(), kArrays)).value();
  std::vector<float> three(3, 7), two(2, 7);
  using Targets = std::vector<CheckpointFile::Target>;
  EXPECT_EQ(file.CopyTo(Targets{{"parameters", three}}).message(),
            "the checkpoint has an array 'statistics' that nothing here uses");
  EXPECT_EQ(
      file.CopyTo(Targets{{"parameters", three}, {"statistics", two}, {"optimiser.mean", three}}).message(),
      "the checkpoint has no array 'optimiser.mean'");
  EXPECT_EQ(file.CopyTo(Targets{{"parameters", three}, {"statistics", three}}).message(),
            "the checkpoint's array 'statistics' has 2 values, expected 3");
  EXPECT_EQ(three, std::vector<float>(3, 7));
}

TEST_F(CheckpointTest, WritesNothingThatItWouldNotRead) {
  const auto refusal = [&](const std::function<void(Checkpoint&)>& spoil) {
    Checkpoint checkpoint = Sample();
    spoil(checkpoint);
    const Status status = WriteCheckpoint(path_, checkpoint, kArrays);
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_NE(refusal([](Checkpoint& c) { c.members[0].name = "\xff"; }).find("not valid UTF-8"),
            std::string::npos);
  EXPECT_NE(refusal([](Checkpoint& c) { c.members[0] = c.members[1]; }).find("one name"), std::string::npos);
  refusal([](Checkpoint& c) { c.members[0].samples = -1; });
  refusal([](Checkpoint& c) { c.progress.accuracy = std::numeric_limits<double>::quiet_NaN(); });
  refusal([](Checkpoint& c) { c.progress.elapsed = Duration(-1); });
  refusal([](Checkpoint& c) { c.log_bytes = std::numeric_limits<std::uint64_t>::max(); });
  using Epoch = EpochState;
  const auto of_epoch = [&](const std::function<void(Epoch&)>& spoil) {
    return refusal([&](Checkpoint& c) {
      c = WithEpoch();
      spoil(c.progress.epoch);
    });
  };
  EXPECT_NE(of_epoch([](Epoch& e) { e.began = 13; }).find("begins after its last round"), std::string::npos);
  EXPECT_NE(of_epoch([](Epoch& e) { e.number = 12; }).find("more epochs than rounds"), std::string::npos);
  EXPECT_NE(of_epoch([](Epoch& e) { e.problem.sizes[1] = -1; }).find("client 2"), std::string::npos);
  EXPECT_NE(of_epoch([](Epoch& e) { e.problem.delays[0] = -1; }).find("the delay of client 1"),
            std::string::npos);
  of_epoch([](Epoch& e) { e.problem.delays[0] = std::numeric_limits<double>::quiet_NaN(); });
  of_epoch([](Epoch& e) { e.problem.delays.pop_back(); });
  of_epoch([](Epoch& e) { e.problem.label_counts[0][1] = 4; });
  of_epoch([](Epoch& e) { e.problem.label_counts.pop_back(); });
  of_epoch([](Epoch& e) { e.problem = {}; });
}

TEST_F(CheckpointTest, WhatItCouldNotReadBackOfAnEpochIsRefusedToo) {
  // A million devices with twelve classes each: more numbers than the reader takes.
  Checkpoint checkpoint = Sample();
  EpochState& epoch = checkpoint.progress.epoch;
  epoch = {1, 1, {std::vector<std::int64_t>(1'000'000, 1), {}, {}}};
  EXPECT_TRUE(ParseCheckpoint(FormatCheckpoint(checkpoint).value(), 5).ok());
  epoch.problem.label_counts.assign(1'000'000, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto text = FormatCheckpoint(checkpoint);
  EXPECT_TRUE(!text.ok() || ParseCheckpoint(*text, 5).ok());
}

TEST(ParseCheckpoint, SaysWhatIsWrong) {
  const std::string good = FormatCheckpoint(Sample()).value();
  ASSERT_TRUE(ParseCheckpoint(good, 5).ok());
  EXPECT_EQ(ParseCheckpoint(good, 4).status().message(), "its members have shared more than it holds");
  const auto refusal = [&](std::string_view old, std::string_view replacement) {
    std::string text = good;
    text.replace(text.find(old), old.size(), replacement);
    const auto checkpoint = ParseCheckpoint(text, 5);
    return checkpoint.ok() ? "accepted" : checkpoint.status().message();
  };
  EXPECT_EQ(refusal("\"schema\":1", "\"schema\":2"), "its schema is 2; this program reads 1");
  EXPECT_EQ(refusal("\"round\":12", "\"round\":-1"), "its 'round' is not a whole number from 0");
  EXPECT_EQ(refusal("\"round\":12", "\"round\":18446744073709551616"),
            "its 'round' is not a whole number from 0");
  EXPECT_EQ(refusal("\"round\":12,", ""), "it has no 'round'");
  EXPECT_EQ(refusal("4711", "9223372036854775808"), "its log is longer than any file");
  EXPECT_EQ(refusal("\"samples\":100", "\"samples\":9223372036854775808"),
            "its 'samples' does not fit in 63 bits");
  EXPECT_EQ(refusal("workshop", "käfer \\\"7\\\""), "two of its members have one name");
  EXPECT_EQ(refusal("0.30000000000000004", "1.5"), "its accuracy is not from 0 to 1");
  EXPECT_EQ(refusal("\"members\":[", "\"members\":[3,"), "one of its 'members' is not an object");
  EXPECT_EQ(refusal("\"members\":[", "\"members\":[[[[["),
            "it has more levels of brackets, or more parts, than a checkpoint");
  EXPECT_EQ(refusal("{\"schema\"", "[\"schema\""), "it is not valid JSON");
  EXPECT_EQ(ParseCheckpoint("3").status().message(), "it is not a JSON object");
}

TEST(ParseCheckpoint, SaysWhatIsWrongWithAnEpoch) {
  const std::string good = FormatCheckpoint(WithEpoch()).value();
  ASSERT_EQ(ParseCheckpoint(good, 5)->progress.epoch, WithEpoch().progress.epoch);
  const auto refusal = [&](std::string_view old, std::string_view replacement) {
    std::string text = good;
    text.replace(text.find(old), old.size(), replacement);
    const auto checkpoint = ParseCheckpoint(text, 5);
    return checkpoint.ok() ? "accepted" : checkpoint.status().message();
  };
  EXPECT_EQ(refusal("\"epoch\":{", "\"epoch\":3,\"other\":{"), "its 'epoch' is not an object");
  EXPECT_EQ(refusal("\"number\":3", "\"number\":-3"), "its 'number' is not a whole number from 0");
  EXPECT_EQ(refusal("\"number\":3,", ""), "it has no 'number'");
  EXPECT_EQ(refusal("\"number\":3", "\"number\":0"),
            "its epoch has the number 0, and they are counted from 1");
  EXPECT_EQ(refusal("\"number\":3", "\"number\":18446744073709551615"),
            "it has begun more epochs than rounds");
  EXPECT_EQ(refusal("\"began\":11", "\"began\":13"), "its epoch begins after its last round");
  EXPECT_EQ(refusal("[5,0,7]", "5"), "its 'sizes' is not a list");
  EXPECT_EQ(refusal("[5,0,7]", "[5,0.5,7]"), "its 'sizes' is not a list of numbers");
  EXPECT_EQ(refusal("[5,0,7]", "[5,0,\"7\"]"), "its 'sizes' is not a list of numbers");
  EXPECT_EQ(refusal("[5,0,7]", "[5,0,18446744073709551615]"),
            "of its epoch, the size of client 3 is -1; a client has 0 samples or more");
  EXPECT_EQ(refusal("[2,3,0,0,7,0]", "[2,3,0,0,7]"), "its epoch has label counts of half a device");
  EXPECT_EQ(refusal("[5,0,7]", "[]"), "its epoch has label counts of half a device");
  EXPECT_NE(refusal("[2,3,0,0,7,0]", "[2,2,0,0,7,0]").find("of its epoch, the label counts of client 1"),
            std::string::npos);
  EXPECT_NE(refusal("1000000000000.0", "1e13").find("of its epoch, the delay of client 3"),
            std::string::npos);
  EXPECT_EQ(refusal("1000000000000.0", "null"), "its 'delays' is not a list of numbers");
}

}  // namespace
}  // namespace tributary::inline coordinator
