// [split] and [sampling]: what they read, what they refuse, and that they come back from their own text.

#include <gtest/gtest.h>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kLeast;
using testing::kSplitEverything;
using testing::Replaced;

Experiment Read(std::string_view text, std::vector<std::string> overrides = {}) {
  auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, overrides);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? std::move(read).value() : Experiment();
}

std::string Refusal(std::string_view text, std::vector<std::string> overrides = {}) {
  const auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, overrides);
  EXPECT_FALSE(read.ok());
  return read.ok() ? "" : read.status().message();
}
std::string RefusalOf(std::string_view from, std::string_view to) {
  return Refusal(Replaced(kSplitEverything, from, to));
}

// The least experiment with nothing but the method; and with lines at its end.
std::string Plain(std::string_view lines = "") {
  return Replaced(Replaced(kLeast, "\"federated\"", "\"split\""), "local-steps = 5\n", lines);
}

std::string SplitFed(const std::string& variant, const std::string& lines = "",
                     const std::string& split = "") {
  return Plain(lines + "[split]\n" + split + "variant = \"" + variant + "\"\n");
}

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(SplitReader, ReadsEveryKey) {
  const Experiment e = Read(kSplitEverything);
  EXPECT_EQ(e.train.method, Method::kSplit);
  EXPECT_EQ(e.split.cut, "stem.relu");
  EXPECT_EQ(e.split.tail, "block2.relu");
  EXPECT_EQ(e.split.activations, SplitPrecision::kFloat16);
  EXPECT_EQ(e.split.gradients, SplitPrecision::kInt8);
  EXPECT_EQ(e.split.server_compute.value, 2e10);
  EXPECT_EQ(e.split.variant, SplitVariant::kParallel);
  EXPECT_TRUE(e.global_batch());
  EXPECT_EQ(e.sampling.method, SamplingMethod::kLatentDirichlet);
  EXPECT_EQ(e.sampling.delta, 2.5);
  EXPECT_EQ(e.sampling.concentration, 0.5);
  EXPECT_EQ(e.sampling.draw, SamplingDraw::kPi);
  EXPECT_EQ(e.sampling.order, StepOrder::kEarly);
  EXPECT_EQ(e.sampling.max_deviation, std::nullopt);
  EXPECT_EQ(e.sampling.batch, 48);
  EXPECT_EQ(e.sampling.seed, 9U);

  const Experiment deadline =
      Read(Plain("[sampling]\nmethod = \"deadline\"\norder = \"early\"\nmax-deviation = 0.2\n"));
  EXPECT_EQ(deadline.sampling.method, SamplingMethod::kDeadline);
  EXPECT_EQ(deadline.sampling.order, StepOrder::kEarly);
  EXPECT_EQ(deadline.sampling.max_deviation, 0.2);
}

TEST(SplitReader, DefaultsWithoutEitherSection) {
  const Experiment e = Read(Plain());
  EXPECT_EQ(e.split.cut, "auto");
  EXPECT_EQ(e.split.tail, std::nullopt);
  EXPECT_EQ(e.split.activations, SplitPrecision::kFloat32);
  EXPECT_EQ(e.split.gradients, SplitPrecision::kFloat32);
  EXPECT_EQ(e.split.server_compute.value, 1e11);
  EXPECT_EQ(e.split.variant, SplitVariant::kParallel);
  EXPECT_EQ(e.sampling.method, SamplingMethod::kUniformGlobal);
  EXPECT_EQ(e.sampling.order, StepOrder::kShuffled);
  EXPECT_EQ(e.sampling.draw, SamplingDraw::kWeighted);
  EXPECT_EQ(e.sampling.batch, 32);
  EXPECT_EQ(e.sampling.seed, 1U);
}

TEST(SplitReader, EveryWordOfEachKey) {
  for (const auto& [word, meaning] : {std::pair("fp32", SplitPrecision::kFloat32),
                                      {"fp16", SplitPrecision::kFloat16},
                                      {"int8", SplitPrecision::kInt8}}) {
    const Experiment e = Read(Plain("[split]\nactivations = \"" + std::string(word) + "\"\n"));
    EXPECT_EQ(e.split.activations, meaning);
    EXPECT_EQ(e.split.gradients, SplitPrecision::kFloat32);
  }
  for (const auto& [word, meaning] : {std::pair("parallel", SplitVariant::kParallel),
                                      {"splitfed-v1", SplitVariant::kSplitFed1},
                                      {"splitfed-v2", SplitVariant::kSplitFed2}}) {
    const Experiment e = Read(Plain("[split]\nvariant = \"" + std::string(word) + "\"\n"));
    EXPECT_EQ(e.split.variant, meaning);
    EXPECT_EQ(e.split.averages(), meaning != SplitVariant::kParallel);
    EXPECT_EQ(e.train.local_steps, std::nullopt);
  }
  for (const auto& [word, meaning] : {std::pair("fls", SamplingMethod::kEqual),
                                      {"fpls", SamplingMethod::kProportional},
                                      {"ugs", SamplingMethod::kUniformGlobal},
                                      {"lds", SamplingMethod::kLatentDirichlet},
                                      {"deadline", SamplingMethod::kDeadline},
                                      {"sequential", SamplingMethod::kSequential}}) {
    EXPECT_EQ(Read(Plain("[sampling]\nmethod = \"" + std::string(word) + "\"\n")).sampling.method, meaning);
  }
}

TEST(SplitReader, OverridesReachBothSections) {
  const Experiment e = Read(
      Plain(), {"split.cut=conv2", "split.server-compute=5G", "sampling.method=lds", "sampling.delta=-1"});
  EXPECT_EQ(e.split.cut, "conv2");
  EXPECT_EQ(e.split.server_compute.value, 5e9);
  EXPECT_EQ(e.sampling.method, SamplingMethod::kLatentDirichlet);
  EXPECT_EQ(e.sampling.delta, -1);
  EXPECT_TRUE(Contains(Refusal(Plain(), {"split.cot=conv2"}), "did you mean 'cut'"));
}

void ExpectComesBack(const Experiment& e) {
  const std::string text = FormatExperiment(e);
  const Experiment back = Read(text);
  EXPECT_EQ(FormatExperiment(back), text);
  EXPECT_EQ(std::tie(e.split.cut, e.split.tail, e.split.activations, e.split.gradients, e.split.variant),
            std::tie(back.split.cut, back.split.tail, back.split.activations, back.split.gradients,
                     back.split.variant));
  EXPECT_EQ(std::tie(e.train.local_steps, e.train.server_optimiser, e.fleet.participation),
            std::tie(back.train.local_steps, back.train.server_optimiser, back.fleet.participation));
  EXPECT_EQ(e.split.server_compute.value, back.split.server_compute.value);
  const SamplingOptions &s = e.sampling, &t = back.sampling;
  EXPECT_EQ(std::tie(s.method, s.batch, s.delta, s.concentration, s.draw, s.order, s.max_deviation, s.seed),
            std::tie(t.method, t.batch, t.delta, t.concentration, t.draw, t.order, t.max_deviation, t.seed));
}

TEST(SplitReader, ComesBackFromItsOwnText) {
  ExpectComesBack(Read(kSplitEverything));
  ExpectComesBack(Read(Plain()));
  ExpectComesBack(Read(Plain("[sampling]\nmethod = \"deadline\"\nmax-deviation = 0.1\norder = \"early\"\n")));
  ExpectComesBack(Read(Plain("[sampling]\nmethod = \"deadline\"\n")));
  ExpectComesBack(Read(Plain("[sampling]\nmethod = \"sequential\"\n")));
  ExpectComesBack(Read(SplitFed("splitfed-v1", "local-steps = 3\nserver-optimiser = \"momentum\"\n")));
  ExpectComesBack(Read(SplitFed("splitfed-v2"), {"fleet.participation=0.5"}));
}

TEST(SplitReader, OtherMethodsAreWrittenWithoutEitherSection) {
  const std::string text = FormatExperiment(Read(kLeast));
  EXPECT_FALSE(Contains(text, "[split]"));
  EXPECT_FALSE(Contains(text, "[sampling]"));
}

TEST(SplitReader, KeysNeedTheMethod) {
  for (const auto& [key, value] : {std::pair("cut", "\"auto\""),
                                   {"tail", "\"conv2\""},
                                   {"activations", "\"fp16\""},
                                   {"gradients", "\"fp32\""},
                                   {"server-compute", "\"1G\""},
                                   {"variant", "\"splitfed-v1\""}}) {
    const std::string line = std::string(key) + " = " + value;
    EXPECT_EQ(Refusal(std::string(kLeast) + "[split]\n" + line + "\n"),
              "e.toml:17: split." + std::string(key) + " is only valid with method = \"split\"");
  }
  for (const auto& [key, value] : {std::pair("method", "\"ugs\""),
                                   {"delta", "1"},
                                   {"concentration", "1"},
                                   {"draw", "\"pi\""},
                                   {"order", "\"early\""},
                                   {"max-deviation", "1"}}) {
    const std::string lines = "[sampling]\n" + std::string(key) + " = " + value + "\n";
    EXPECT_EQ(Refusal(std::string(kLeast) + lines),
              "e.toml:17: sampling." + std::string(key) + " is only valid with method = \"split\"");
  }
}

TEST(SplitReader, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(RefusalOf("cut = \"stem.relu\"", "cutt = \"stem.relu\""),
            "e.toml:18: unknown key in [split] 'cutt'; did you mean 'cut'? Known: cut, tail, activations, "
            "gradients, server-compute, variant");
  EXPECT_EQ(RefusalOf("delta =", "dleta ="),
            "e.toml:26: unknown key in [sampling] 'dleta'; did you mean 'delta'? Known: method, delta, "
            "concentration, "
            "draw, order, max-deviation");
  EXPECT_EQ(
      RefusalOf("\"fp16\"", "\"fp61\""),
      "e.toml:20: split.activations: unknown precision 'fp61'; did you mean 'fp16'? Known: fp32, fp16, int8");
  EXPECT_TRUE(Contains(RefusalOf("\"lds\"", "\"lsd\""),
                       "did you mean 'lds'? Known: fls, fpls, ugs, lds, deadline, sequential"));
  EXPECT_TRUE(Contains(RefusalOf("\"pi\"", "\"p\""), "Known: weighted, pi"));
  EXPECT_EQ(
      RefusalOf("\"parallel\"", "\"parallell\""),
      "e.toml:23: split.variant: unknown variant 'parallell'; did you mean 'parallel'? Known: parallel, "
      "splitfed-v1, splitfed-v2");
  // Not with what would be wrong if the word were another.
  EXPECT_TRUE(Contains(Refusal(SplitFed("splitfed-v3", "local-steps = 3\n")),
                       "e.toml:17: split.variant: unknown variant 'splitfed-v3'"));
  EXPECT_TRUE(Contains(RefusalOf("\"early\"", "\"erly\""), "did you mean 'early'? Known: shuffled, early"));
}

TEST(SplitReader, ValuesHaveTheirBounds) {
  for (const char* const bad : {"delta = 1001", "delta = -1001", "delta = nan", "delta = \"much\""}) {
    EXPECT_TRUE(Contains(RefusalOf("delta = 2.5", bad), "e.toml:26: sampling.delta")) << bad;
  }
  for (const char* const bad : {"concentration = 0", "concentration = 1e7", "concentration = -1"}) {
    EXPECT_TRUE(Contains(RefusalOf("concentration = 0.5", bad), "e.toml:27: sampling.concentration")) << bad;
  }
  for (const char* const bad : {"max-deviation = -0.1", "max-deviation = 2.1"}) {
    const std::string text = Plain("[sampling]\nmethod = \"deadline\"\n" + std::string(bad) + "\n");
    EXPECT_TRUE(Contains(Refusal(text), "e.toml:17: sampling.max-deviation")) << bad;
  }
  for (const char* const bad : {"0", "-1", "\"1Mbit/s\"", "\"uniform(1G, 2G)\"", "true"}) {
    EXPECT_TRUE(Contains(RefusalOf("\"20G\"", bad), "e.toml:22: split.server-compute")) << bad;
  }
  EXPECT_TRUE(Contains(RefusalOf("cut = \"stem.relu\"", "cut = 3"), "e.toml:18: split.cut"));
  EXPECT_TRUE(Contains(RefusalOf("tail = \"block2.relu\"", "tail = false"), "e.toml:19: split.tail"));
}

TEST(SplitReader, SamplingKeysNeedTheMethodThatUsesThem) {
  for (const char* const line : {"delta = 1", "concentration = 1", "draw = \"pi\""}) {
    for (const char* const method : {"fls", "fpls", "ugs", "deadline", "sequential"}) {
      const std::string refusal =
          Refusal(Plain("[sampling]\nmethod = \"" + std::string(method) + "\"\n" + line + "\n"));
      EXPECT_TRUE(Contains(refusal, "e.toml:17: sampling.")) << refusal;
      EXPECT_TRUE(Contains(refusal, " is only valid with method = \"lds\"")) << refusal;
    }
  }
  EXPECT_TRUE(Contains(Refusal(Plain("[sampling]\norder = \"early\"\n")),
                       "e.toml:16: sampling.order is only valid with method = \"lds\" or \"deadline\""));
  EXPECT_TRUE(Contains(Refusal(Plain("[sampling]\nmethod = \"lds\"\nmax-deviation = 0.1\n")),
                       "e.toml:17: sampling.max-deviation is only valid with method = \"deadline\""));
}

TEST(SplitReader, DevicesTakeOneStepAtATime) {
  EXPECT_TRUE(Contains(Refusal(Plain("local-steps = 5\n")),
                       "e.toml:15: train.local-steps is only valid with method = \"federated\""));
  EXPECT_TRUE(Contains(Refusal(Plain("local-epochs = 1\n")), "train.local-epochs"));
}

TEST(SplitReader, SeveralStepsWhereFrontsAreAveraged) {
  for (const char* const variant : {"splitfed-v1", "splitfed-v2"}) {
    const Experiment e =
        Read(SplitFed(variant, "local-steps = 4\nserver-optimiser = \"adam\"\n"), {"fleet.participation=2"});
    EXPECT_EQ(e.train.local_steps, 4);
    EXPECT_EQ(e.train.server_optimiser.kind, ServerOptimiserKind::kAdam);
    EXPECT_EQ(e.fleet.participation, Portion::Count(2));
    EXPECT_FALSE(e.global_batch());
    EXPECT_EQ(Refusal(SplitFed(variant, "local-epochs = 1\n")),
              "e.toml:15: train.local-epochs: devices with more samples would cross the cut more often; use "
              "local-steps");
    EXPECT_EQ(Refusal(SplitFed(variant, "local-steps = 1001\n")),
              "e.toml:15: train.local-steps is 1001; allowed where a network is cut: 1 to 1000, since data "
              "sent over the cut are stored until the round ends");
    EXPECT_EQ(Refusal(SplitFed(variant, "prox = 0.1\n")),
              "e.toml:15: train.prox is only valid with method = \"federated\"");
    EXPECT_EQ(
        Refusal(SplitFed(variant, "", "tail = \"conv2\"\n")),
        "e.toml:16: split.tail: fronts are averaged, and a tail would have to be too; leave it out, or use"
        " variant = \"parallel\"");
    for (const char* const line : {"method = \"ugs\"", "method = \"lds\"\ndelta = 1", "order = \"early\""}) {
      const std::string refusal = Refusal(SplitFed(variant) + "[sampling]\n" + line + "\n");
      EXPECT_TRUE(Contains(refusal, "is only valid with split.variant = \"parallel\"")) << refusal;
    }
    EXPECT_TRUE(Contains(Refusal(Replaced(SplitFed(variant), "[[fleet", "hold-out = 0.1\n[[fleet")),
                         "data.hold-out"));
    EXPECT_TRUE(Contains(Refusal(SplitFed(variant, "calibrate = 2\n")), "train.calibrate"));
    EXPECT_TRUE(Contains(Refusal(SplitFed(variant) + "[stream]\nrecorded-speed = 2\n"),
                         "must know a step's samples on both sides of the cut"));
  }
  EXPECT_TRUE(
      Contains(Refusal(Plain("server-optimiser = \"adam\"\n")), "train.server-optimiser is only valid with"));
}

TEST(SplitReader, WhatAPartOfANetworkCannotDoIsRefused) {
  EXPECT_TRUE(Contains(Refusal(Replaced(Plain(), "[[fleet", "hold-out = 0.1\n[[fleet")), "data.hold-out"));
  EXPECT_TRUE(Contains(Refusal(Plain(), {"model.compute-as=resnet18"}), "leave out model.compute-as"));
  EXPECT_TRUE(Contains(Refusal(Plain("calibrate = 2\n")), "e.toml:15: train.calibrate"));
  EXPECT_TRUE(Contains(Refusal(Plain("prox = 0.1\n")), "method = \"federated\""));
}

TEST(SplitReader, WhoTakesPartIsForTheSamplerToSay) {
  const auto with = [](std::string_view lines) {
    return Replaced(Plain(lines), "[[fleet", "[fleet]\nparticipation = 0.5\n[[fleet");
  };
  EXPECT_TRUE(Contains(Refusal(with("")), "fleet.participation"));
}

TEST(SplitReader, EpochsArePlannedOverWhatIsThere) {
  EXPECT_TRUE(Contains(Refusal(Replaced(Plain(), "uplink", "stream-rate = 5\nuplink")), "stream-rate"));
  EXPECT_TRUE(Contains(Refusal(Plain("[stream]\nrecorded-speed = 2\n")),
                       "leave out stream-rate, stream-programme and [stream]"));
  EXPECT_FALSE(Refusal(Plain("[stream]\nbatch = \"stream-rate\"\n")).empty());
  EXPECT_TRUE(Contains(Refusal(Plain("[stream]\nbuffer = \"truncate\"\n")), "and [stream]"));
}

TEST(SplitReader, WithATailWeightsTravelInOnePiece) {
  const std::string optimal = std::string(kSplitEverything) + "[transfers]\nstrategy = \"optimal\"\n";
  EXPECT_EQ(Refusal(optimal),
            "e.toml:19: split.tail: with a tail, the client part is at both ends of the network and is sent "
            "in one piece; leave out transfers.strategy and transfers.largest-segment");
  Read(Plain("[split]\ncut = \"conv1\"\n[transfers]\nstrategy = \"optimal\"\n"));
}

}  // namespace
}  // namespace tributary::inline experiment
