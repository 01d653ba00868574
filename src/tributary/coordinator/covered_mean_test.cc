#include "tributary/coordinator/covered_mean.h"

#include <gtest/gtest.h>

#include "tributary/base/distributions.h"
#include "tributary/model/thin_graph.h"
#include "tributary/model/thin_map.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary {
namespace {

// Against sums written out element by element, over devices that trained parts of their own.
TEST(CoveredMean, IsTheMeanOverThoseThatTrainedAnElement) {
  const Model model(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value());
  for (const auto method : {DropoutMethod::kUniform, DropoutMethod::kHeteroFl, DropoutMethod::kFedRolex}) {
    Experiment experiment;
    experiment.goal.seed = 11;
    experiment.dropout.method = method;
    auto covered = CoveredMean::Make(experiment, model);
    ASSERT_TRUE(covered.ok()) << covered.status();
    const DropoutMenu menu = DropoutMenu::Make(model, experiment.dropout).value();
    Rng rng(3);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      RoundReport report;
      const std::size_t size = model.parameters.size;
      std::vector<double> sums(size, 0), weights(size, 0), over_all(size, 0);
      double all = 0;
      for (std::uint64_t id = 0; id < 5; ++id) {
        DeviceReport device;
        device.device = DeviceId{id};
        device.outcome = id == 2 ? Outcome::kLate : Outcome::kApplied;
        device.metrics.samples = static_cast<std::int64_t>(1 + rng.Below(50));
        // Nobody has everything.
        device.kept = KeptShare{0, static_cast<std::size_t>(rng.Below(menu.entries().size() - 1))};
        report.devices.push_back(device);
        if (device.outcome != Outcome::kApplied) continue;
        const KeptAtoms kept = AtomsOf(menu, method, {11, device.device, RoundId{round}}, 0, device.kept->entry);
        const Model thin(ThinGraph(model, kept));
        ThinMap map(model, thin);
        map.Keep(kept);
        std::vector<float> update(size, 0), change(thin.parameters.size);
        for (float& value : change) value = static_cast<float>(0.5 + Uniform(rng, 0, 1));  // so that none is zero
        map.ScatterAll(ThinMap::Part::kParameters, change, update);
        const auto weight = static_cast<double>(device.metrics.samples);
        all += weight;
        for (std::size_t i = 0; i < size; ++i) {
          sums[i] += weight * static_cast<double>(update[i]);
          if (update[i] != 0) weights[i] += weight;
        }
      }
      std::vector<float> mean(size);
      for (std::size_t i = 0; i < size; ++i) mean[i] = static_cast<float>(sums[i] / all);
      (*covered)->Begin(RoundId{round}, report);
      // In two stretches.
      (*covered)->Apply(0, std::span(mean).first(size / 3));
      (*covered)->Apply(size / 3, std::span(mean).subspan(size / 3));
      std::size_t untrained = 0;
      for (std::size_t i = 0; i < size; ++i) {
        untrained += weights[i] == 0;
        ASSERT_NEAR(mean[i], weights[i] > 0 ? sums[i] / weights[i] : 0, 1e-5) << i;
      }
      EXPECT_GT(untrained, 0U);
    }
  }
}

}  // namespace
}  // namespace tributary
