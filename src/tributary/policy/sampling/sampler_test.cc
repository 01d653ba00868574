#include "tributary/policy/sampling/sampler.h"

#include <gtest/gtest.h>

#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline policy {
namespace {

using Steps = std::vector<std::vector<ClientBatch>>;

SamplingPlan PlanOf(const Steps& steps) {
  SamplingPlan plan;
  for (const auto& step : steps) {
    for (const ClientBatch& batch : step) plan.Add(batch.client, batch.count);
    plan.EndStep();
  }
  return plan;
}

const SamplingProblem kProblem{.sizes = {3, 0, 2}};

TEST(CheckSamplingPlan, AcceptsWhatClientsHaveOrLess) {
  EXPECT_TRUE(CheckSamplingPlan(kProblem, PlanOf({{{0, 3}, {2, 2}}})).ok());
  EXPECT_TRUE(CheckSamplingPlan(kProblem, PlanOf({{{0, 1}, {2, 1}}, {{0, 2}}, {{2, 1}}})).ok());
  EXPECT_TRUE(CheckSamplingPlan(kProblem, PlanOf({{{2, 1}}})).ok());
}

TEST(CheckSamplingPlan, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<Steps, std::string>> cases = {
      {{}, "no steps"},
      {{{{0, 1}}, {}}, "step 2 of the plan of an epoch has no samples"},
      {{{{3, 1}}}, "names client 3, but there are 3"},
      {{{{2, 1}, {0, 1}}}, "has client 0 after client 2"},
      {{{{0, 1}, {0, 1}}}, "has client 0 after client 0"},
      {{{{0, 2}}, {{0, 2}}},
       "step 2 of the plan of an epoch takes more from client 0 than the 3 samples it has"},
      {{{{1, 1}}}, "than the 0 samples"},
      {{{{0, UINT32_MAX}}}, "than the 3 samples"},
  };
  for (const auto& [steps, message] : cases) {
    const Status status = CheckSamplingPlan(kProblem, PlanOf(steps));
    EXPECT_NE(status.message().find(message), std::string::npos) << status << "\nshould say: " << message;
  }
}

class OneByOne : public Sampler {
 public:
  bool UsesDelays() const override { return true; }
  SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene& scene) const override {
    SamplingPlan plan;
    plan.Add(scene.epoch % 2 == 0 ? 2 : 0, scene.batch);
    plan.EndStep();
    EXPECT_EQ(problem, kProblem);
    EXPECT_EQ(scene.seed, 5U);
    return plan;
  }
};

TEST(Sampler, OfOnesOwnIsAskedInPlaceOfTheOthers) {
  SamplingOptions options{.method = SamplingMethod::kOwn, .batch = 2, .seed = 5};
  options.own = std::make_shared<OneByOne>();
  options.own_name = "one-by-one";
  EXPECT_EQ(MethodName(options), "one-by-one");
  EXPECT_FALSE(UsesLabels(options));
  EXPECT_TRUE(UsesDelays(options));
  EXPECT_EQ(PlanEpoch(kProblem, options, 1), PlanOf({{{0, 2}}}));
  EXPECT_EQ(PlanEpoch(kProblem, options, 2), PlanOf({{{2, 2}}}));
  EXPECT_EQ(EpochSteps(kProblem, options), 1);
}

}  // namespace
}  // namespace tributary::inline policy
