#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kEverything;
using testing::kLeast;
using testing::Replaced;

std::string Refusal(std::string_view text) {
  const auto read = ReadExperimentText(text, {"e.toml", std::nullopt});
  EXPECT_FALSE(read.ok());
  return read.ok() ? "" : read.status().message();
}

// The message for the least experiment with one line changed.
std::string RefusalOf(std::string_view from, std::string_view to) {
  return Refusal(Replaced(kLeast, from, to));
}
// With lines added to a section that ends before `before`.
std::string RefusalWith(std::string_view lines, std::string_view before = "[model]") {
  return Refusal(Replaced(kLeast, before, std::string(lines) + "\n" + std::string(before)));
}
// With lines added to [train], which is the last.
std::string RefusalOfTrain(std::string_view lines) {
  return Refusal(std::string(kLeast) + std::string(lines) + "\n");
}

TEST(ReaderErrors, UnknownKeysAreAnsweredWithTheNearest) {
  EXPECT_EQ(
      RefusalOfTrain("bach = 3"),
      "e.toml:16: unknown key in [train] 'bach'; did you mean 'batch'? Known: method, batch, local-steps, "
      "local-epochs, optimiser, momentum, nesterov, beta1, beta2, epsilon, weight-decay, learning-rate, "
      "schedule, milestones, factor, floor, warmup, label-smoothing, augment, calibrate, prox, "
      "server-optimiser");
  EXPECT_EQ(
      RefusalOf("count = 4", "cuont = 4"),
      "e.toml:10: unknown key in [fleet.group.0] 'cuont'; did you mean 'count'? Known: name, count, compute, "
      "memory, uplink, downlink, round-trip, setup, stream-rate, stream-programme, availability");
}

TEST(ReaderErrors, UnknownSectionsAreAnsweredWithTheNearest) {
  EXPECT_EQ(RefusalOf("[train]", "[trian]"),
            "e.toml:13: unknown section 'trian'; did you mean 'train'? Known: schema, experiment, model, "
            "data, fleet, "
            "train, transfers, compression, stream, injection, split, sampling, dropout, gossip, "
            "aggregation, trust, disturbance, against");
  EXPECT_EQ(
      RefusalOfTrain("[squeeze]\nkind = \"top-k\""),
      "e.toml:16: unknown section 'squeeze'. Known: schema, experiment, model, data, fleet, train, "
      "transfers, compression, stream, injection, split, sampling, dropout, gossip, aggregation, trust, "
      "disturbance, against");
}

TEST(ReaderErrors, RatesInAListAreOneForEachDevice) {
  const auto with = [](const char* lines) {
    return RefusalOf("uplink = ", std::string(lines) + "\nuplink = ");
  };
  EXPECT_EQ(with("stream-rate = [1, 2, 3]"),
            "e.toml:12: fleet.group.0.stream-rate has 3 rates for the 4 devices of the group; give one for "
            "each device, "
            "or one for all");
  EXPECT_NE(with("stream-rate = [1, 2, 3, 4, 5]").find("5 rates for the 4 devices"), std::string::npos);
  const std::string right = Replaced(kLeast, "uplink = ", "stream-rate = [1, 2, 3, 4]\nuplink = ");
  EXPECT_TRUE(ReadExperimentText(right, {"e.toml", std::nullopt}).ok());
}

TEST(ReaderErrors, AProgrammeNeedsAStreamAndSteps) {
  const auto with = [](const char* lines) {
    return RefusalOf("uplink = ", std::string(lines) + "\nuplink = ");
  };
  EXPECT_NE(with("stream-programme = \"stop:1s\"").find("a stream-rate"), std::string::npos);
  EXPECT_EQ(
      with("stream-rate = 5\nstream-programme = \"brust:2:1s:2s\""),
      "e.toml:13: fleet.group.0.stream-programme: unknown step of a programme 'brust'; did you mean 'burst'? "
      "Known: hold, stop, drift, sine, burst");
}

TEST(ReaderErrors, InjectionIsForSyncSgdAndNeedsBothNumbers) {
  EXPECT_NE(RefusalOfTrain("[injection]\ndevices = 0.2\nshare = 0.1").find("method = \"sync-sgd\""),
            std::string::npos);
  const std::string sync =
      Replaced(Replaced(kLeast, "\"federated\"", "\"sync-sgd\""), "local-steps = 5\n", "");
  EXPECT_NE(Refusal(sync + "[injection]\ndevices = 0.2\n").find("injection.share is missing"),
            std::string::npos);
  EXPECT_NE(Refusal(sync + "[injection]\nshare = 0.2\n").find("devices above 0"), std::string::npos);
  EXPECT_NE(Refusal(sync + "[injection]\ndevices = 1.5\nshare = 0.1\n").find("injection.devices"),
            std::string::npos);
  EXPECT_NE(Refusal(sync + "[injection]\ndevices = 0.5\nshare = 0\n").find("injection.share"),
            std::string::npos);
}

TEST(ReaderErrors, SettingsWithoutEffectAreRefused) {
  const std::string sync =
      Replaced(Replaced(kLeast, "\"federated\"", "\"sync-sgd\""), "local-steps = 5\n", "");
  EXPECT_NE(RefusalOfTrain("[stream]\nbatch = \"stream-rate\"").find("method = \"sync-sgd\""),
            std::string::npos);
  EXPECT_EQ(RefusalOfTrain("[stream]\nrecorded-speed = 0"),
            "e.toml:17: stream.recorded-speed is 0; allowed: a number above 0 and at most 1000000");
  EXPECT_EQ(RefusalOfTrain("[stream]\nrecorded-sped = 2").substr(0, 83),
            "e.toml:17: unknown key in [stream] 'recorded-sped'; did you mean 'recorded-speed'? ");
  EXPECT_TRUE(
      ReadExperimentText(sync + "[stream]\nbatch = \"stream-rate\"\nrecorded-speed = 2\n", {"e.toml", {}})
          .ok());
  EXPECT_NE(RefusalOfTrain("[stream]\nscaling = \"linear\"").find("method = \"sync-sgd\""),
            std::string::npos);
  EXPECT_NE(RefusalOfTrain("[compression]\nratio = 0.1").find("top-k"), std::string::npos);
  EXPECT_NE(RefusalOfTrain("[transfers]\ndrift = 0.2")
                .find("transfers.drift is only valid with strategy = \"ibatch\""),
            std::string::npos);
  EXPECT_NE(RefusalOfTrain("[transfers]\nstrategy = \"optimum\"").find("did you mean 'optimal'"),
            std::string::npos);
}

TEST(ReaderErrors, UnknownValuesAreAnsweredWithTheNearest) {
  EXPECT_EQ(RefusalOf("\"federated\"", "\"federatd\""),
            "e.toml:14: train.method: unknown method 'federatd'; did you mean 'federated'? Known: sync-sgd, "
            "federated, split, gossip");
  EXPECT_EQ(
      RefusalOf("\"cnn\"", "\"resnet81\""),
      "e.toml:6: model.name: unknown model 'resnet81'; did you mean 'resnet8'? Known: mlp, har-cnn, lenet5, "
      "cnn, "
      "resnet8, resnet20, densenet-40, mobilenet-v2, googlenet, densenet-100, resnet18, resnet34, resnet50, "
      "inception-v4, resnet152, vgg11, vgg16, vgg19");
  EXPECT_EQ(RefusalOf("\"glyphs\"", "\"glyps\""),
            "e.toml:8: data.set: unknown data set 'glyps'; did you mean 'glyphs'? Known: glyphs, mnist, "
            "fashion-mnist, cifar10, cifar100, har, or the path of a folder with X.npy and y.npy, with "
            "pictures or with recordings, with a "
            "slash in it: "
            "./glyps");
  EXPECT_EQ(RefusalWith("split = \"dirichlt\"", "[[fleet.group]]"),
            "e.toml:9: data.split.kind: unknown split 'dirichlt'; did you mean 'dirichlet'? Known: iid, "
            "stratified, dirichlet, "
            "classes-per-device, extended-dirichlet, shards, source, submodular");
  EXPECT_EQ(
      RefusalOfTrain("[[disturbance]]\nkind = \"vanish\"\ndevices = \"group:group-1\""),
      "e.toml:18: disturbance.0.devices: unknown group 'group-1'; did you mean 'group-0'? Known: group-0");
}

TEST(ReaderErrors, AGroupHasDevices) {
  EXPECT_EQ(RefusalOf("count = 4", "count = 0"),
            "e.toml:10: fleet.group.0.count is 0; allowed: a whole number from 1 to 1000000");
  EXPECT_EQ(RefusalOf("count = 4\n", ""), "e.toml:9: fleet.group.0.count is missing");
  EXPECT_EQ(RefusalWith("[[fleet.group]]\ncount = 999999\ncompute = 1\nuplink = 1", "[train]"),
            "e.toml:9: fleet.group has 1000003 devices in all; allowed: at most 1000000");
  EXPECT_EQ(RefusalWith("[[fleet.group]]\nname = \"group-0\"\ncount = 1\ncompute = 1\nuplink = 1", "[train]"),
            "e.toml:14: fleet.group.1.name is \"group-0\", the name of another group");
}

TEST(ReaderErrors, RatesAreNumbers) {
  EXPECT_EQ(RefusalOf("\"1G\"", "nan"),
            "e.toml:11: fleet.group.0.compute: found nan; allowed: above 0 and at most 1e+18");
  EXPECT_EQ(RefusalOf("\"10Mbit/s\"", "inf"),
            "e.toml:12: fleet.group.0.uplink: found inf; allowed: above 0 and at most 1e+18");
  EXPECT_EQ(RefusalOf("\"10Mbit/s\"", "-3"),
            "e.toml:12: fleet.group.0.uplink: found -3.0; allowed: above 0 and at most 1e+18");
  EXPECT_EQ(
      RefusalOf("\"10Mbit/s\"", "\"nan\""),
      "e.toml:12: fleet.group.0.uplink: 'nan' is not a quantity like 100Mbit/s; units are Gbit/s, Mbit/s, "
      "kbit/s, bit/s");
  EXPECT_EQ(RefusalOf("\"10Mbit/s\"", "\"10Mbyte\""),
            "e.toml:12: fleet.group.0.uplink: '10Mbyte' is not a quantity like 100Mbit/s; units are Gbit/s, "
            "Mbit/s, "
            "kbit/s, bit/s");
  EXPECT_EQ(RefusalOf("\"1G\"", "true"),
            "e.toml:11: fleet.group.0.compute: found true where a number or a quantity is needed");
  EXPECT_EQ(RefusalOf("\"1G\"", "[]"),
            "e.toml:11: fleet.group.0.compute: found an empty list; give at least one value to deal to the "
            "devices");
  EXPECT_EQ(RefusalOf("\"1G\"", "\"uniform(2G)\""),
            "e.toml:11: fleet.group.0.compute: 'uniform(2G)' is not of the form uniform(low,high)");
  EXPECT_EQ(
      RefusalOf("\"1G\"", "\"gamma(2,3)\""),
      "e.toml:11: fleet.group.0.compute: 'gamma(2,3)' is no distribution; allowed: uniform(low,high) and "
      "normal(mean,deviation)");
}

TEST(ReaderErrors, AccuracyIsAtMostOne) {
  EXPECT_EQ(RefusalWith("target-accuracy = 1.5"),
            "e.toml:5: experiment.target-accuracy is 1.5; allowed: a number above 0 and at most 1");
  EXPECT_EQ(RefusalWith("target-accuracy = nan"),
            "e.toml:5: experiment.target-accuracy is nan; allowed: a number above 0 and at most 1");
  EXPECT_EQ(RefusalWith("target-accuracy = 85"),
            "e.toml:5: experiment.target-accuracy is 85; allowed: a number above 0 and at most 1");
}

TEST(ReaderErrors, ATraceLastsAsLongAsTheRunOrSaysWhatComesAfter) {
  const std::string trace = "availability = { trace = [[0, 1.0], [30, 0.5]] }";
  EXPECT_EQ(
      RefusalWith(trace, "[train]"),
      "e.toml:13: fleet.group.0.availability.trace ends after 30s, and the run has no time budget; say what "
      "comes then: after = \"hold\" or \"repeat\"");
  EXPECT_EQ(
      Refusal(Replaced(Replaced(kLeast, "[train]", trace + "\n[train]"), "rounds = 2", "time-budget = 60")),
      "e.toml:13: fleet.group.0.availability.trace ends after 30s, and the run may last 1min "
      "(experiment.time-budget); say what comes then: after = \"hold\" or \"repeat\"");
  EXPECT_TRUE(ReadExperimentText(Replaced(Replaced(kLeast, "[train]", trace + "\n[train]"), "rounds = 2",
                                          "time-budget = 30"),
                                 {"e.toml", std::nullopt})
                  .ok());
  EXPECT_EQ(
      RefusalWith("availability = { trace = [[0, 1.0]], after = \"hodl\" }", "[train]"),
      "e.toml:13: fleet.group.0.availability.after: unknown after 'hodl'; did you mean 'hold'? Known: hold, "
      "repeat");
  EXPECT_EQ(RefusalWith("availability = { trace = [[0, 1.0], [5, 2.0]], after = \"hold\" }", "[train]"),
            "e.toml:13: fleet.group.0.availability.trace: step 1 of the trace has the share 2; a share lies "
            "between 0 "
            "and 1");
}

TEST(ReaderErrors, TraceFilesAreNamedInMessages) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "tributary_reader_errors";
  std::filesystem::create_directories(folder);
  const std::string text =
      Replaced(kLeast, "[train]", "availability = { trace = \"t.csv\", after = \"hold\" }\n[train]");
  std::ofstream(folder / "e.toml") << text;
  const auto refusal = [&](std::string_view csv) {
    std::ofstream(folder / "t.csv") << csv;
    const auto read = ReadExperiment(folder / "e.toml");
    return read.ok() ? std::string() : read.status().message();
  };
  const std::string at = (folder / "e.toml").string() + ":13: fleet.group.0.availability.trace: ";
  const std::string csv = (folder / "t.csv").string();

  std::filesystem::remove(folder / "t.csv");
  const auto missing = ReadExperiment(folder / "e.toml");
  EXPECT_EQ(missing.status(), NotFound(at + "cannot open " + csv + ": No such file or directory"));
  EXPECT_EQ(refusal("0,1\n5;0.5\n"),
            at + csv +
                ":2: found '5;0.5'; a line is a time in seconds, a comma and a share, like "
                "12.5,0.4");
  EXPECT_EQ(refusal("0,1\n5,0.5\n3,1\n"), at + csv +
                                              ":3: the time 3s does not come after 5s, the one before it; "
                                              "times must rise");
  EXPECT_EQ(refusal("0,1\n5,0.5\n"), "");
  // An experiment that comes from elsewhere may not choose files.
  EXPECT_EQ(Refusal(text),
            "e.toml:13: fleet.group.0.availability.trace: this experiment may not name files; write the "
            "trace into it: "
            "[[0, 1.0], [10, 0.5]]");
  std::filesystem::remove_all(folder);
}

TEST(ReaderErrors, TypesAreSaid) {
  EXPECT_EQ(RefusalOf("rounds = 2", "rounds = \"two\""),
            "e.toml:4: experiment.rounds is \"two\"; allowed: a whole number from 1 to 1000000000");
  EXPECT_EQ(RefusalOf("rounds = 2", "rounds = 2.5"),
            "e.toml:4: experiment.rounds is 2.5; allowed: a whole number from 1 to 1000000000");
  EXPECT_EQ(RefusalOf("rounds = 2", "rounds = 1979-05-27"),
            "e.toml:4: experiment.rounds is a date or time; allowed: a whole number from 1 to 1000000000");
  EXPECT_EQ(RefusalOfTrain("nesterov = 1"), "e.toml:16: train.nesterov is 1; allowed: true or false");
  EXPECT_EQ(RefusalOfTrain("momentum = 1.0"),
            "e.toml:16: train.momentum is 1.0; allowed: a number at least 0 and less than 1");
  EXPECT_EQ(RefusalOf("\"federated\"", "[1, 2]"),
            "e.toml:14: train.method is a list of 2; allowed: sync-sgd, federated, split, gossip");
  EXPECT_EQ(Refusal("schema = 1\ntrain = 3\n"), "e.toml:1: experiment.name is missing");
  EXPECT_EQ(RefusalOf("\"least\"", "\"../least\""),
            "e.toml:3: experiment.name is \"../least\"; allowed: letters, digits, '-' and '_', 64 at most, "
            "not digits "
            "alone");
  EXPECT_EQ(RefusalWith("[fleet]\nparticipation = 2.0", "[[fleet.group]]"),
            "e.toml:10: fleet.participation is 2.0; allowed: a share with a decimal point, above 0 and at "
            "most 1.0, or "
            "a whole number of devices, 1 to 1000000");
  EXPECT_EQ(RefusalWith("[fleet]\ndeadline = \"0s\"", "[[fleet.group]]"),
            "e.toml:10: fleet.deadline is \"0s\"; allowed: a time like \"10min\" or a number of seconds, "
            "above 0 and "
            "at most 1000000000");
  EXPECT_EQ(RefusalWith("[fleet]\ndeadline = \"soon\"", "[[fleet.group]]"),
            "e.toml:10: fleet.deadline: 'soon' is not a quantity like 10min or 20ms; units are d, h, min, s, "
            "ms, us, ns");
}

TEST(ReaderErrors, WhatIsNeededIsMissed) {
  EXPECT_EQ(RefusalOf("schema = 1\n", ""),
            "e.toml:1: schema is missing; an experiment begins with schema = 1");
  EXPECT_EQ(RefusalOf("schema = 1", "schema = 2"),
            "e.toml:1: schema is 2; this version of tributary reads schema = 1");
  EXPECT_EQ(RefusalOf("rounds = 2\n", ""),
            "e.toml:2: experiment.rounds is missing; say when the run ends: rounds, time-budget, "
            "target-accuracy, or "
            "several");
  EXPECT_EQ(RefusalOf("name = \"cnn\"\n", ""), "e.toml:5: model.name is missing");
  EXPECT_EQ(RefusalOf("local-steps = 5\n", ""),
            "e.toml:13: train.local-steps is missing; with method = \"federated\" give it, or local-epochs");
  EXPECT_EQ(
      Refusal(Replaced(kLeast, "[[fleet.group]]\ncount = 4\ncompute = \"1G\"\nuplink = \"10Mbit/s\"\n", "")),
      "e.toml:1: fleet.group is missing; a fleet needs at least one [[fleet.group]]");
}

TEST(ReaderErrors, ContradictionsAreSaid) {
  EXPECT_EQ(RefusalOf("\"federated\"", "\"sync-sgd\""),
            "e.toml:15: train.local-steps is only valid with method = \"federated\" or \"gossip\", or "
            "\"split\" with a split.variant "
            "that averages (splitfed-v1, splitfed-v2)");
  EXPECT_EQ(
      RefusalOfTrain("local-epochs = 2"),
      "e.toml:16: train.local-epochs and train.local-steps are both given; a device does one or the other");
  const std::string epochs = Replaced(kLeast, "local-steps = 5", "local-epochs = 1");
  EXPECT_TRUE(ReadExperimentText(epochs, {"e.toml", std::nullopt}).ok());
  EXPECT_EQ(Refusal(Replaced(epochs, "uplink", "stream-rate = 5\nuplink")),
            "e.toml:1: stream.kind: samples that arrive over time have no epochs; use train.local-steps, not "
            "local-epochs");
  EXPECT_EQ(RefusalOfTrain("milestones = [1]"),
            "e.toml:16: train.milestones is only valid with schedule = \"step\"");
  EXPECT_EQ(RefusalOfTrain("schedule = \"step\""),
            "e.toml:13: train.milestones is missing; with schedule = \"step\" it lists the rounds at which "
            "the rate is "
            "cut");
  EXPECT_EQ(RefusalOfTrain("schedule = \"step\"\nmilestones = [5, 3]"),
            "e.toml:17: train.milestones: milestones must rise, found 5 before 3");
  EXPECT_EQ(RefusalOfTrain("optimiser = \"adam\"\nmomentum = 0.9"),
            "e.toml:17: train.momentum is only valid with optimiser = \"sgd\"");
  EXPECT_EQ(RefusalOfTrain("nesterov = true"),
            "e.toml:16: train.nesterov looks ahead along the momentum, which is 0; set train.momentum, e.g. "
            "to 0.9");
  EXPECT_EQ(RefusalOfTrain("schedule = \"cosine\"\nfloor = 2.0"),
            "e.toml:17: train.floor: the floor must be from 0 to the learning rate, 0.05, found 2");
  EXPECT_EQ(
      Refusal(Replaced(std::string(kLeast) + "schedule = \"cosine\"\n", "rounds = 2", "time-budget = 5")),
      "e.toml:16: train.schedule is \"cosine\", which depends on the length of the run; set "
      "experiment.rounds");
  EXPECT_EQ(RefusalOfTrain("server-optimiser = { kind = \"momentum\", tau = 0.1 }"),
            "e.toml:16: train.server-optimiser.tau is only valid with kind = \"adam\" or \"yogi\"");
  EXPECT_EQ(RefusalWith("split = { kind = \"iid\", alpha = 1.0 }", "[[fleet.group]]"),
            "e.toml:9: data.split.alpha is only valid with kind = \"dirichlet\" or \"extended-dirichlet\"");
  EXPECT_EQ(RefusalWith("[fleet]\nparticipation = 5", "[[fleet.group]]"),
            "e.toml:10: fleet.participation asks for 5 devices; the fleet has 4");
  EXPECT_EQ(RefusalWith("[fleet]\nparticipation = 0.5\nquorum = 3", "[[fleet.group]]"),
            "e.toml:11: fleet.quorum needs 3 devices; a round asks only 2");
  EXPECT_EQ(RefusalOfTrain("[[disturbance]]\nkind = \"slow\""),
            "e.toml:16: disturbance.0.factor is missing; with kind = \"slow\" it says how many times slower");
  EXPECT_EQ(RefusalOfTrain("[[disturbance]]\nkind = \"lose\"\nfactor = 3"),
            "e.toml:18: disturbance.0.factor is only valid with kind = \"slow\"");
  EXPECT_EQ(RefusalOfTrain("[[disturbance]]\nkind = \"lose\"\nstrength = 3"),
            "e.toml:18: disturbance.0.strength is only valid with kind = \"attack\"");
  EXPECT_EQ(RefusalOfTrain("[[disturbance]]\nkind = \"attack\"\nattack = \"label-shift\"\nstrength = 1.5"),
            "e.toml:19: disturbance.0.strength is 1.5; with attack = \"label-shift\" use a whole number of "
            "classes");
  EXPECT_EQ(RefusalOfTrain("[[disturbance]]\nkind = \"lose\"\ndevices = [4]"),
            "e.toml:18: disturbance.0.devices is 4; allowed: a whole number from 0 to 3");
}

TEST(ReaderErrors, WhatIsNotTomlIsRefusedWithItsLine) {
  const std::string message = Refusal("schema = 1\n[experiment\n");
  EXPECT_TRUE(message.starts_with("e.toml:2: this is not TOML: ")) << message;
  EXPECT_TRUE(
      Refusal("a = 1\n[=b").starts_with("e.toml:2: this is not TOML: "));  // An assertion of the library.
  EXPECT_TRUE(Refusal("a = 1\na = 2\n").starts_with("e.toml:2: this is not TOML: "));
  EXPECT_TRUE(Refusal("a = \"\xff\"\n").starts_with("e.toml:1: this is not TOML: "));
}

TEST(ReaderErrors, SizesAreBounded) {
  EXPECT_EQ(Refusal(std::string(1'000'001, '#')), "e.toml has 1.00 MB; an experiment may have 1.00 MB");
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += i % 2 == 0 ? ".1" : ".\",\"";
  EXPECT_EQ(Refusal(deep + " = 1\n"), "e.toml:1: a key of more than 16 parts");
  EXPECT_TRUE(Refusal("a = " + std::string(1000, '[')).starts_with("e.toml:1: "));
  EXPECT_EQ(Refusal("schema = 1\na.b.c.d.e.f.g.h.i = {a.b.c.d.e.f.g.h.i = 1}"),
            "e.toml:2: tables and lists are nested more than 16 deep");
}

TEST(ReaderErrors, WhatCouldNotBeWrittenAndReadAgainIsRefused) {
  std::string list = "1";
  for (int i = 0; i < 100'000; ++i) list += ",1";
  EXPECT_EQ(Refusal(Replaced(kLeast, "\"10Mbit/s\"", "[" + list + "]")),
            "e.toml has 2.00 MB with everything spelled out; allowed: 1.00 MB");
  std::string trace = "[0, 1]";
  for (int i = 1; i < 6'000; ++i) trace += ",[" + std::to_string(i) + ",1]";
  const std::string traced = "availability = { after = \"hold\", trace = [" + trace + "] }\n";
  EXPECT_EQ(RefusalWith(traced + "[[fleet.group]]\ncount = 1\ncompute = 1\nuplink = 1\n" + traced, "[train]"),
            "e.toml:9: fleet.group has more than 10000 steps in its traces, all groups together");
}

TEST(ReaderErrors, LongListsOfDecimalsMayStandOnOneLine) {
  std::string list = "1.5";
  for (int i = 0; i < 1000; ++i) list += ", 2.25e6";
  EXPECT_TRUE(
      ReadExperimentText(Replaced(kLeast, "\"1G\"", "[" + list + "]"), {"e.toml", std::nullopt}).ok());
}

TEST(ReaderErrors, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadExperiment("/nowhere/e.toml").status(),
            NotFound("cannot open /nowhere/e.toml: No such file or directory"));
}

}  // namespace
}  // namespace tributary::inline experiment
