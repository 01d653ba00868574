#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "tributary/base/distributions.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/mean.h"
#include "tributary/policy/dropout/round_choice.h"
#include "tributary/policy/dropout/testing_front.h"

namespace tributary::inline policy {
namespace {

// Against sums written out element by element, over devices that trained parts of their own.
TEST(CoveredMean, IsTheMeanOverThoseThatTrainedAnElement) {
  const Model model(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value());
  for (const auto& method :
       {SubnetworkRuleNamed("uniform"), SubnetworkRuleNamed("heterofl"), SubnetworkRuleNamed("fedrolex")}) {
    DropoutOptions options;
    options.method = method;
    auto covered = CoveredMean::Make(options, model, 11);
    ASSERT_TRUE(covered.ok()) << covered.status();
    const DropoutMenu menu = DropoutMenu::Make(model, options).value();
    Rng rng(3);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      std::deque<std::uint32_t> entries;
      std::vector<TrainedPart> updates;
      const std::size_t size = model.parameters.size;
      std::vector<double> sums(size, 0), weights(size, 0);
      double all = 0;
      for (std::uint64_t id = 0; id < 5; ++id) {
        const auto weight = static_cast<double>(1 + rng.Below(50));
        // Nobody has everything.
        entries.push_back(static_cast<std::uint32_t>(rng.Below(menu.entries().size() - 1)));
        updates.push_back({DeviceId{id}, weight, {&entries.back(), 1}});
        const KeptAtoms kept = AtomsOf(menu, {11, DeviceId{id}, RoundId{round}}, 0, entries.back());
        const Model subnetwork(SubnetworkGraph(model, kept));
        SubnetworkMap map(model, subnetwork);
        map.Keep(kept);
        std::vector<float> update(size, 0), change(subnetwork.parameters.size);
        for (float& value : change)
          value = static_cast<float>(0.5 + Uniform(rng, 0, 1));  // so that none is zero
        map.ScatterAll(SubnetworkMap::Part::kParameters, change, update);
        all += weight;
        for (std::size_t i = 0; i < size; ++i) {
          sums[i] += weight * static_cast<double>(update[i]);
          if (update[i] != 0) weights[i] += weight;
        }
      }
      std::vector<float> mean(size);
      for (std::size_t i = 0; i < size; ++i) mean[i] = static_cast<float>(sums[i] / all);
      (*covered)->Begin(RoundId{round}, updates);
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

// Steps of one device that train different parts, each a number of times of its own: every element must come out as the mean
// of a step that trained it.
TEST(CoveredMean, CountsTheStepsThatTrainedAnElementWhereTheyDiffer) {
  const Model model(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value());
  for (const bool nested : {true, false}) {
    DropoutOptions options;
    options.method = SubnetworkRuleNamed("pareto");
    options.mean = MeanOver::kTrained;
    options.channels = nested ? ChannelChoice::kFirst : ChannelChoice::kRandom;
    options.front = testing::FrontFor(model, {0.8, 0.5, 0.3});
    auto covered = CoveredMean::Make(options, model, 1);
    ASSERT_TRUE(covered.ok()) << covered.status();
    const DropoutMenu menu = DropoutMenu::Make(model, options).value();
    std::vector<std::vector<std::uint32_t>> entries(3);
    std::vector<TrainedPart> updates;
    std::map<std::uint32_t, std::unique_ptr<const Model>> subnetwork_models;
    const std::size_t size = model.parameters.size;
    std::vector<double> sums(size, 0);
    double all = 0;
    // So many steps that what is drawn comes near to what is likely.
    const std::size_t steps = nested ? 6 : 400;
    for (std::uint64_t id = 0; id < 3; ++id) {
      const auto samples = static_cast<double>(10 * (id + 1));
      for (std::size_t step = 0; step < steps; ++step) {
        const auto entry = static_cast<std::uint32_t>((step * (id + 1)) % menu.entries().size());
        entries[id].push_back(entry);
        const KeptAtoms kept = AtomsOf(menu, {1, DeviceId{id}, RoundId{1}}, step, entry);
        auto& subnetwork_model = subnetwork_models[entry];  // of as many channels, whichever they are
        if (!subnetwork_model) subnetwork_model = std::make_unique<const Model>(SubnetworkGraph(model, kept));
        const Model& subnetwork = *subnetwork_model;
        SubnetworkMap map(model, subnetwork);
        map.Keep(kept);
        std::vector<float> update(size, 0);
        map.ScatterAll(SubnetworkMap::Part::kParameters, std::vector<float>(subnetwork.parameters.size, 1),
                       update);
        // Each step moves what it trains by one, of which the whole round is the sum.
        for (std::size_t i = 0; i < size; ++i) {
          sums[i] += samples * static_cast<double>(update[i]) / static_cast<double>(steps);
        }
      }
      all += samples;
      updates.push_back({DeviceId{id}, samples, entries[id]});
    }
    std::vector<float> mean(size);
    for (std::size_t i = 0; i < size; ++i) mean[i] = static_cast<float>(sums[i] / all);
    (*covered)->Begin(RoundId{1}, updates);
    (*covered)->Apply(0, mean);
    for (const Layout::Slot& slot : model.parameters.slots) {
      for (const float value : std::span(mean).subspan(slot.segment.offset, slot.segment.count)) {
        ASSERT_NEAR(value, 1, nested ? 1e-5 : 0.25) << slot.name;
      }
    }
  }
}

}  // namespace
}  // namespace tributary::inline policy
