// Samplers and streams that a program brings itself.

#include <gtest/gtest.h>

#include <algorithm>

#include "tributary/coordinator/simulation.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/reader.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline coordinator {
namespace {

// What ugs does, in other words.
class OwnUniform : public Sampler {
 public:
  SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene& scene) const override {
    Rng rng = Rng::ForStream(scene.seed, DeviceId{0}, "sampling-uniform", scene.epoch);
    return PlanUniformGlobal(problem, scene.batch, rng);
  }
};

class Greedy : public Sampler {
 public:
  SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene&) const override {
    SamplingPlan plan;
    plan.Add(0, problem.sizes[0] + 1);
    plan.EndStep();
    return plan;
  }
};

// What a stream-rate does, by polling.
StatusOr<std::unique_ptr<Stream>> OwnReplay(const StreamScene& scene) {
  if (scene.argument == "never") return Unavailable("no such sensor");
  TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme, RateProgramme::Make(scene.rate));
  return MakeReplayStream(scene.dataset, scene.part,
                          PlayAtRate(std::move(programme), scene.part.size(), scene.seed, scene.device),
                          {.start = scene.start});
}

Extensions Own() {
  Extensions extensions;
  EXPECT_TRUE(extensions.AddSampler("own-uniform", std::make_shared<OwnUniform>()).ok());
  EXPECT_TRUE(extensions.AddSampler("greedy", std::make_shared<Greedy>()).ok());
  EXPECT_TRUE(extensions.AddStream("own-replay", OwnReplay).ok());
  return extensions;
}

StatusOr<FinishedRun> RunOwn(std::vector<std::string> overrides) {
  // The preset `smoke`, but for how many steps a device takes: not every method knows those.
  const auto smoke = std::ranges::find(ListPresets(), "smoke", &Preset::name);
  std::string text(smoke->text);
  const std::size_t line = text.find("local-steps");
  text.erase(line, text.find('\n', line) - line);
  TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment,
                             ReadExperimentText(text, {"smoke", {}}, overrides, Own()));
  return Simulate(experiment, {.threads = 2});
}

void ExpectSameRun(std::vector<std::string> known, const std::string& key, const std::string& word) {
  const auto built_in = RunOwn(known);
  known.push_back(key + "=" + word);
  const auto own = RunOwn(known);
  ASSERT_TRUE(built_in.ok()) << built_in.status();
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->digest, built_in->digest);
  EXPECT_EQ(own->time, built_in->time);
}

TEST(OwnSampler, ThatSamplesAsABuiltInOneGivesTheSameRun) {
  ExpectSameRun({"train.method=split", "train.batch=24", "experiment.rounds=12"}, "sampling.method",
                "own-uniform");
}

TEST(OwnSampler, WhosePlanIsNoneEndsTheRunInWords) {
  const auto run = RunOwn({"train.method=split", "sampling.method=greedy"});
  EXPECT_NE(run.status().message().find("sampler 'greedy': step 1 of the plan"), std::string::npos)
      << run.status();
}

TEST(OwnStream, ThatBringsWhatABuiltInOneDoesGivesTheSameRun) {
  for (const std::string buffer : {"persist", "truncate"}) {
    ExpectSameRun({"train.method=sync-sgd", "experiment.rounds=8", "fleet.group.0.stream-rate=30/s",
                   "fleet.group.1.stream-rate=90/s", "stream.batch=stream-rate", "stream.buffer=" + buffer},
                  "stream.kind", "own-replay");
  }
}

TEST(OwnStream, WorksWithLocalStepsAndAmongNeighbours) {
  for (const std::string method : {"federated", "gossip"}) {
    ExpectSameRun({"train.method=" + method, "train.local-steps=3", "experiment.rounds=4",
                   "fleet.group.0.stream-rate=30/s", "fleet.group.1.stream-rate=90/s"},
                  "stream.kind", "own-replay");
  }
}

TEST(OwnStream, ThatCannotBeMadeEndsTheRunInWords) {
  const auto run = RunOwn({"train.method=sync-sgd", "stream.kind=own-replay:never"});
  EXPECT_NE(run.status().message().find("stream 'own-replay:never': no such sensor"), std::string::npos)
      << run.status();
}

}  // namespace
}  // namespace tributary::inline coordinator
