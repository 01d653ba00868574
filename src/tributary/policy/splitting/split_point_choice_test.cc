#include "tributary/policy/splitting/split_point_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tributary/base/distributions.h"
#include "tributary/model/split_points.h"
#include "tributary/model/zoo.h"

namespace tributary::inline policy {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Model ZooModel(const std::string& name) {
  auto graph = BuildZooGraph({name, Shape{3, 32, 32}, {}, Stem::kAuto});
  TRIBUTARY_CHECK(graph.ok());
  return Model(std::move(graph).value());
}

TEST(SplitPointOptionsOf, AreWhatTheTwoPartsCost) {
  for (const char* name : {"resnet8", "googlenet", "vgg11"}) {
    const Model model = ZooModel(name);
    std::size_t next = 0;
    const std::vector<SplitPointOption> options = SplitPointOptionsOf(model, 2, 4);
    for (NodeIndex node = 0; node < model.graph.size(); ++node) {
      if (!model.cuts[node]) continue;
      ASSERT_LT(next, options.size());
      const SplitPointOption& option = options[next++];
      SCOPED_TRACE(option.layer);
      const Model front(PartOf(model.graph, 1, node));
      const Model rest(PartOf(model.graph, node + 1, model.graph.size() - 1));
      EXPECT_EQ(option.node, node);
      EXPECT_EQ(option.layer, model.graph.node(node).name);
      EXPECT_EQ(option.front_macs, static_cast<double>(TotalMacs(front.costs).value));
      EXPECT_EQ(option.rest_macs, static_cast<double>(TotalMacs(rest.costs).value));
      EXPECT_EQ(2 * option.split_bytes, static_cast<double>(rest.costs[0].output.value));
      EXPECT_EQ(option.gradient_bytes, static_cast<double>(rest.costs[0].output.value));
      EXPECT_EQ(option.front_bytes, static_cast<double>(4 * front.parameters.size));
      for (const std::int64_t batch : {0, 1, 32}) {
        EXPECT_EQ(option.weight_memory + static_cast<double>(batch) * option.sample_memory,
                  static_cast<double>(TrainingMemory(front.costs, batch).value));
      }
    }
    EXPECT_EQ(next, options.size());
  }
}

// A step on a clock, message by message, as a device goes through it.
double PlayedStep(const SplitPointOption& option, std::span<const SplitClient> clients, double server) {
  double end = 0;
  double samples = 0;
  for (const SplitClient& client : clients) {
    double now = 0;
    const auto message = [&](double bytes, double bits) {
      now += client.setup_seconds;
      now += client.round_trip_seconds / 2;
      now += bytes / (bits / 8);
    };
    const double forward = option.front_macs / client.macs_per_second * client.batch;
    message(option.front_bytes, client.down_bits);
    now += forward;
    message(option.split_bytes * client.batch, client.up_bits);
    message(option.gradient_bytes * client.batch, client.down_bits);
    now += forward + forward;
    message(option.front_bytes, client.up_bits);
    end = std::max(end, now);
    samples += client.batch;
  }
  return end + 3 * samples * (option.rest_macs / server);
}

bool Fits(const Model& model, NodeIndex cut, std::span<const SplitClient> clients) {
  const Model front(PartOf(model.graph, 1, cut));
  for (const SplitClient& client : clients) {
    const auto batch = static_cast<std::int64_t>(std::ceil(client.batch));
    const auto need = static_cast<double>(TrainingMemory(front.costs, batch).value);
    if (client.memory_bytes > 0 && need > client.memory_bytes) return false;
  }
  return true;
}

TEST(ChooseSplitPoint, FindsTheShortestStepThatFits) {
  const Model model = ZooModel("resnet8");
  const std::vector<SplitPointOption> options = SplitPointOptionsOf(model, 1, 4);
  Rng rng(7);
  std::size_t found = 0, refused = 0;
  std::set<NodeIndex> chosen;
  for (int round = 0; round < 300; ++round) {
    std::vector<SplitClient> clients(1 + rng.Below(6));
    const auto log_uniform = [&](double low, double high) {
      return std::exp(Uniform(rng, std::log(low), std::log(high)));
    };
    for (SplitClient& client : clients) {
      client = {.macs_per_second = log_uniform(1e7, 1e12),
                .up_bits = log_uniform(1e5, 1e10),
                .down_bits = log_uniform(1e5, 1e10),
                .setup_seconds = log_uniform(1e-4, 1e-1),
                .round_trip_seconds = log_uniform(1e-4, 1e-1),
                .memory_bytes = rng.Below(4) == 0 ? log_uniform(3e4, 3e7) : 0,
                .batch = Uniform(rng, 0.5, 40)};
    }
    const double server = log_uniform(1e9, 1e13);
    double best = kInfinite;
    for (const SplitPointOption& option : options) {
      if (Fits(model, option.node, clients)) best = std::min(best, PlayedStep(option, clients, server));
    }
    const auto choice = ChooseSplitPoint(options, clients, server);
    ASSERT_EQ(choice.ok(), std::isfinite(best));
    ++(choice.ok() ? found : refused);
    if (!choice.ok()) continue;
    chosen.insert(choice->node);
    EXPECT_NEAR(choice->step_seconds, best, 1e-9 * best);
    const auto option = std::ranges::find(options, choice->node, &SplitPointOption::node);
    ASSERT_NE(option, options.end());
    EXPECT_TRUE(Fits(model, choice->node, clients));
    EXPECT_NEAR(PlayedStep(*option, clients, server), best, 1e-9 * best);
  }
  EXPECT_GT(found, 100U);
  EXPECT_GT(refused, 10U);
  EXPECT_GE(chosen.size(), 3U);  // the settings differ enough to matter
}

TEST(ChooseSplitPoint, SendsTheSmallestActivationsOverASlowLink) {
  const std::vector<SplitPointOption> options = SplitPointOptionsOf(ZooModel("resnet8"), 4, 4);
  // So many samples that the front's own weights do not count.
  const std::vector<SplitClient> clients = {
      {.macs_per_second = kInfinite, .up_bits = 1e6, .down_bits = 1e6, .batch = 1e6}};
  const auto smallest = std::ranges::min_element(options, {}, &SplitPointOption::split_bytes);
  EXPECT_EQ(ChooseSplitPoint(options, clients, 1e12)->node, smallest->node);
  EXPECT_EQ(smallest->layer, "avgpool");  // as small as flatten, and earlier
}

TEST(ChooseSplitPoint, LeavesSlowDevicesOnAFastLinkTheLeast) {
  const std::vector<SplitPointOption> options = SplitPointOptionsOf(ZooModel("googlenet"), 4, 4);
  const std::vector<SplitClient> clients = {
      {.macs_per_second = 1e6, .up_bits = kInfinite, .down_bits = kInfinite, .batch = 32}};
  EXPECT_EQ(ChooseSplitPoint(options, clients, 1e12)->node, options.front().node);
}

TEST(ChooseSplitPoint, TakesTheEarlierOfEqualTimes) {
  std::vector<SplitPointOption> options = {{.node = 9, .front_macs = 1, .rest_macs = 1},
                                           {.node = 4, .front_macs = 1, .rest_macs = 1},
                                           {.node = 6, .front_macs = 1, .rest_macs = 1}};
  const std::vector<SplitClient> clients = {{.macs_per_second = 1, .up_bits = 1, .down_bits = 1, .batch = 1}};
  EXPECT_EQ(ChooseSplitPoint(options, clients, 1)->node, 4U);
}

TEST(ChooseSplitPoint, LeavesOutCutsThatDoNotFit) {
  const std::vector<SplitPointOption> options = SplitPointOptionsOf(ZooModel("resnet8"), 4, 4);
  SplitClient client{.macs_per_second = kInfinite, .up_bits = 1e6, .down_bits = 1e6, .batch = 64};
  const SplitClient other = client;
  const auto choose = [&] { return ChooseSplitPoint(options, std::vector{other, client, other}, 1e12); };
  const NodeIndex free = choose()->node;
  NodeIndex before = free;
  for (std::size_t i = options.size(); i-- > 0;) {
    client.memory_bytes = options[i].weight_memory + 64 * options[i].sample_memory;
    const auto choice = choose();
    ASSERT_TRUE(choice.ok());
    EXPECT_LE(choice->node, std::min(before, options[i].node));
    before = choice->node;
  }
  EXPECT_LT(before, free);
  EXPECT_EQ(before, options.front().node);
}

TEST(ChooseSplitPoint, SaysWhatMemoryIsMissing) {
  const std::vector<SplitPointOption> options = {
      {.node = 1, .weight_memory = 1e6, .sample_memory = 2e5, .layer = "conv1"},
      {.node = 2, .weight_memory = 2e6, .sample_memory = 2e5, .layer = "conv2"}};
  const SplitClient rich{
      .macs_per_second = 1, .up_bits = 1, .down_bits = 1, .memory_bytes = 1e9, .batch = 10};
  SplitClient poor = rich;
  poor.memory_bytes = 5e5;
  poor.batch = 9.5;
  EXPECT_EQ(ChooseSplitPoint(options, std::vector{rich, poor, rich}, 1).status().message(),
            "no split point leaves a client part that every device has the memory to train: even the least "
            "demanding one, after 'conv1', takes about 3.00 MB with 10 samples in a step, and the smallest "
            "device has 500 kB; choose a smaller batch or model, or leave out devices with so little memory");
  EXPECT_EQ(ChooseSplitPoint({}, std::vector{rich}, 1).status().message(),
            "the network has no split point; choose another model");
}

}  // namespace
}  // namespace tributary::inline policy
