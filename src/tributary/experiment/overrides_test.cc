#include "tributary/experiment/overrides.h"

#include <gtest/gtest.h>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kEverything;
using testing::kLeast;

StatusOr<Experiment> Read(std::vector<std::string> overrides, std::string_view text = kEverything) {
  return ReadExperimentText(text, {"e.toml", std::nullopt}, overrides);
}

std::string Refusal(const std::string& setting) {
  const auto read = Read({setting});
  EXPECT_FALSE(read.ok());
  return read.ok() ? "" : read.status().message();
}

TEST(Overrides, ReplaceValues) {
  const auto read = Read({"train.batch=64", "experiment.seed=9", "experiment.seed=10", "train.nesterov=false",
                          "train.milestones=[3, 4, 5]", "train.method=federated", "fleet.deadline=10s",
                          "fleet.servers.1.up=7Mbit/s", "fleet.group.0.compute=uniform(1G, 2G)"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->train.batch, 64);
  EXPECT_EQ(read->goal.seed, 10U);
  EXPECT_FALSE(read->train.optimiser.nesterov);
  EXPECT_EQ(read->train.schedule.milestones.size(), 3U);
  EXPECT_EQ(read->fleet.deadline, std::chrono::seconds(10));
  EXPECT_EQ(read->fleet.servers[1].up, BitsPerSecond{7e6});
  EXPECT_EQ(read->fleet.groups[0].compute, (Distribution{Distribution::Kind::kUniform, {1e9, 2e9}}));
}

TEST(Overrides, GroupsAreNamedByNumberOrName) {
  const auto read = Read({"fleet.group.0.count=3", "fleet.group.watches.count=5", "fleet.quorum=1"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->fleet.groups[0].count, 3);
  EXPECT_EQ(read->fleet.groups[1].count, 5);
}

TEST(Overrides, MakeTablesThatAreNotThere) {
  const auto read =
      Read({"data.split.kind=dirichlet", "data.split.alpha=0.1", "fleet.participation=0.5"}, kLeast);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->data.split.alpha, 0.1);
  EXPECT_EQ(read->fleet.participation, Portion::Share(0.5));
}

TEST(Overrides, TakeKeysAndSectionsOut) {
  const auto whole = Read({});
  const auto read = Read({"train.batch=", "fleet.group.watches.memory=", "data="}, kEverything);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_FALSE(read.ok());  // Without [data] there is no set.
  const auto some = Read({"train.batch=", "fleet.deadline="});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_NE(whole->train.batch, Training().batch);
  EXPECT_EQ(some->train.batch, Training().batch);
  EXPECT_TRUE(whole->fleet.deadline.has_value());
  EXPECT_FALSE(some->fleet.deadline.has_value());
}

TEST(Overrides, MistakesNameTheSetting) {
  EXPECT_EQ(Refusal("train.batch=0"),
            "--set train.batch=0: train.batch is 0; allowed: a whole number from 1 to 1000000");
  EXPECT_TRUE(
      Refusal("train.bach=3")
          .starts_with("--set train.bach=3: unknown key in [train] 'bach'; did you mean 'batch'? Known: "));
  EXPECT_TRUE(Refusal("trian.batch=3")
                  .starts_with("--set trian.batch=3: unknown section 'trian'; did you mean 'train'?"))
      << Refusal("trian.batch=3");
  EXPECT_EQ(Refusal("train.method=quarrel"),
            "--set train.method=quarrel: train.method: unknown method 'quarrel'. Known: sync-sgd, federated, "
            "split, gossip");
  EXPECT_EQ(Refusal("train.batch"), "--set train.batch: a setting is KEY=VALUE, like train.batch=32");
  EXPECT_EQ(Refusal("train.bach="),
            "--set train.bach=: a setting without a value removes its key, which the experiment does "
            "not have");
  EXPECT_TRUE(Refusal("experiment.name=").ends_with("experiment.name is missing"))
      << Refusal("experiment.name=");
  EXPECT_EQ(Refusal("train..batch=3"),
            "--set train..batch=3: a key is names with dots between them, like train.batch=32");
  EXPECT_EQ(Refusal("train.milestones=[3"),
            "--set train.milestones=[3: the value is neither TOML nor a plain text");
  EXPECT_EQ(Refusal("experiment.about=\xff"),
            "--set experiment.about=\xff: the value is neither TOML nor a plain text");
  EXPECT_EQ(Refusal("train.batch=1\nschema=2"), "--set train.batch=1\nschema=2: a value is on one line");
  EXPECT_EQ(Refusal("fleet.group.7.count=3"),
            "--set fleet.group.7.count=3: there is no number 7; the list has 4 elements, counted from 0");
  EXPECT_EQ(Refusal("fleet.group.phone.count=3"),
            "--set fleet.group.phone.count=3: unknown element 'phone'; did you mean 'phones'? Known: phones, "
            "watches, "
            "boards, loans");
  EXPECT_EQ(Refusal("train.batch.size=3"),
            "--set train.batch.size=3: train.batch is 16 and has no 'size' in it");
  EXPECT_EQ(Refusal("a.b.c.d.e.f.g.h.i=3"), "--set a.b.c.d.e.f.g.h.i=3: no key is nested as deeply");
}

}  // namespace
}  // namespace tributary::inline experiment
