
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tributary/device/setting.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/splitting/split_point_choice.h"

namespace tributary::inline device {
namespace {

constexpr Shape kImages{3, 32, 32};

// Four devices of 1 GMAC/s and 10 Mbit/s, a batch of 64, and a coordinator of 100 GMAC/s, unless it says otherwise.
Experiment Read(std::vector<std::string> settings) {
  std::string text = testing::Replaced(testing::kLeast, "\"federated\"", "\"split\"");
  text = testing::Replaced(text, "local-steps = 5", "batch = 64");
  const auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, settings);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : Experiment();
}

std::string Chosen(const std::vector<std::string>& settings) {
  Experiment experiment = Read(settings);
  const Status status = ResolveSplitPoint(experiment, kImages, 10);
  EXPECT_TRUE(status.ok()) << status;
  return experiment.split.cut;
}

std::string Refusal(const std::vector<std::string>& settings) {
  Experiment experiment = Read(settings);
  const Status status = ResolveSplitPoint(experiment, kImages, 10);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  return status.message();
}

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ResolveSplitPoint, LeavesACutThatIsGiven) {
  EXPECT_EQ(Chosen({"split.cut=relu2"}), "relu2");
  EXPECT_EQ(Chosen({"model.name=resnet8", "split.cut=layer1.0.relu", "split.tail=avgpool"}), "layer1.0.relu");
}

TEST(ResolveSplitPoint, LeavesOtherMethodsAlone) {
  Experiment experiment;
  experiment.model.name = "no such network";
  experiment.split.cut = "no such layer";
  EXPECT_TRUE(ResolveSplitPoint(experiment, kImages, 10).ok());
  EXPECT_EQ(experiment.split.cut, "no such layer");
}

// The shortest step of all cuts, worked out for what each device would send and compute.
TEST(ResolveSplitPoint, AutoIsTheCutWithTheShortestStep) {
  struct Case {
    double compute, link, server;
    int up_bytes, down_bytes;
    const char *activations, *gradients;
  };
  std::vector<std::string> seen;
  for (const char* const model : {"cnn", "resnet8"}) {
    const Model network(*BuildZooGraph({model, kImages, 10}));
    for (const Case& c : {Case{1e9, 1e7, 1e11, 4, 4, "fp32", "fp32"},
                          {1e6, 1e9, 1e12, 4, 4, "fp32", "fp32"},
                          {1e12, 1e5, 1e9, 4, 4, "fp32", "fp32"},
                          {1e9, 1e7, 1e11, 2, 4, "fp16", "fp32"},
                          {1e8, 1e6, 1e10, 4, 2, "fp32", "fp16"}}) {
      // Every device has a quarter of the batch.
      double best = std::numeric_limits<double>::infinity();
      std::string wanted;
      for (NodeIndex cut = 1; cut + 1 < network.graph.size(); ++cut) {
        if (!network.cuts[cut]) continue;
        double front = 0, rest = 0;
        for (NodeIndex node = 1; node < network.graph.size(); ++node) {
          (node <= cut ? front : rest) += static_cast<double>(network.costs[node].macs.value);
        }
        const auto values = static_cast<double>(network.graph.shape(cut).elements());
        const double weights = 4 * static_cast<double>(network.parameters.From(cut + 1));
        const double bits = 8 * (2 * weights + 16 * (c.up_bytes + c.down_bytes) * values);
        const double seconds = bits / c.link + 3 * 16 * front / c.compute + 3 * 64 * rest / c.server;
        if (seconds >= best) continue;
        best = seconds;
        wanted = network.graph.node(cut).name;
      }
      const auto set = [](const char* key, double value) { return key + std::to_string(value); };
      EXPECT_EQ(Chosen({std::string("model.name=") + model, set("fleet.group.0.compute=", c.compute),
                        set("fleet.group.0.uplink=", c.link), set("split.server-compute=", c.server),
                        std::string("split.activations=") + c.activations,
                        std::string("split.gradients=") + c.gradients}),
                wanted);
      seen.push_back(wanted);
    }
  }
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_GE(seen.size(), 3U);  // otherwise the cases show little
}

TEST(ResolveSplitPoint, AutoKeepsBeforeTheTail) {
  const std::vector<std::string> slow_link = {"fleet.group.0.compute=1T",
                                              "fleet.group.0.uplink=\"100kbit/s\""};
  const Model network(*BuildZooGraph({"cnn", kImages, 10}));
  std::vector<std::string> with_tail = slow_link;
  with_tail.emplace_back("split.tail=relu1");
  EXPECT_EQ(Chosen(with_tail), "conv1");
  with_tail.back() = "split.tail=conv1";
  EXPECT_EQ(Refusal(with_tail), "[split] there is no cut before the tail 'conv1'");
}

TEST(ResolveSplitPoint, AutoKeepsToWhatFitsInMemory) {
  EXPECT_TRUE(Contains(Refusal({"fleet.group.0.memory=1kB"}), "[split] cut = \"auto\": "))
      << Refusal({"fleet.group.0.memory=1kB"});
}

TEST(ResolveSplitPoint, LayersThatAreNoCutsAreAnsweredWithTheCuts) {
  EXPECT_EQ(Refusal({"split.cut=polo1"}),
            "[split] cut: cnn has no layer 'polo1'; did you mean 'pool1'? It can be cut after: conv1, relu1, "
            "pool1, conv2,"
            " relu2, pool2, flatten, fc1, relu3");
  EXPECT_EQ(Refusal({"split.tail=fc2"}),
            "[split] tail: cnn cannot be cut after 'fc2': it is the last layer, and nothing would come after "
            "the cut. It can"
            " be cut after: conv1, relu1, pool1, conv2, relu2, pool2, flatten, fc1, relu3");
  const std::string branch = Refusal({"model.name=resnet8", "split.cut=layer1.0.conv1"});
  EXPECT_TRUE(Contains(branch, "[split] cut: resnet8 cannot be cut after 'layer1.0.conv1'")) << branch;
  EXPECT_TRUE(Contains(branch, "layer1.0.relu")) << branch;
  EXPECT_TRUE(Contains(Refusal({"split.cut=input"}),
                       "[split] cut: cnn cannot be cut after 'input': devices would have no layer"))
      << Refusal({"split.cut=input"});
}

TEST(ResolveSplitPoint, ATailComesAfterTheCut) {
  for (const char* const tail : {"conv1", "relu1", "pool1"}) {
    EXPECT_EQ(Refusal({"split.cut=pool1", std::string("split.tail=") + tail}),
              "[split] the tail begins after '" + std::string(tail) +
                  "', which does not come after the cut 'pool1'; choose a"
                  " later layer for tail, or an earlier cut");
  }
  EXPECT_EQ(Chosen({"split.cut=pool1", "split.tail=conv2"}), "pool1");
}

SplitNetwork SplitOf(Experiment experiment) {
  EXPECT_TRUE(ResolveSplitPoint(experiment, kImages, 10).ok());
  return SplitNetworkAt(experiment, BuildNetwork(experiment.model.name, experiment, kImages, 10).value());
}

TEST(SplitNetworkAt, DividesTheWholeBetweenDevicesAndCoordinator) {
  for (const bool tail : {false, true}) {
    std::vector<std::string> settings = {"model.name=resnet8", "split.cut=layer1.0.relu",
                                         "split.activations=fp16", "split.gradients=int8"};
    if (tail) settings.emplace_back("split.tail=layer2.0.relu");
    const SplitNetwork network = SplitOf(Read(settings));
    EXPECT_EQ(network.whole->graph.node(network.cut).name, "layer1.0.relu");
    EXPECT_EQ(network.held->graph.node(network.cut).name, "layer1.0.relu");
    EXPECT_EQ(network.tail.has_value(), tail);
    EXPECT_EQ(network.held->parameters.size + network.rest->parameters.size, network.whole->parameters.size);
    EXPECT_EQ(network.held->statistics.size, 0U);  // devices have no batch norms
    EXPECT_EQ(network.rest->statistics.size, network.whole->statistics.size);
    EXPECT_GT(network.rest->statistics.size, 0U);
    EXPECT_EQ(network.wire.split_values, 16U * 32 * 32);
    EXPECT_EQ(network.wire.tail_values, tail ? 32U * 16 * 16 : 0U);
    EXPECT_EQ(network.wire.crossings(), tail ? 2 : 1);
    EXPECT_EQ(network.wire.labels_travel(), !tail);
    EXPECT_EQ(network.wire.Up(0).BytesOf(3), 3U * 2 * 16 * 32 * 32);
    EXPECT_EQ(network.wire.Down(tail ? 1 : 0).BytesOf(3), 3U * (4 + 16 * 32 * 32));
    if (!tail) continue;
    EXPECT_EQ(network.wire.Down(0).BytesOf(3), 3U * 2 * 32 * 16 * 16);
    EXPECT_EQ(network.wire.Up(1).BytesOf(3), 3U * (4 + 32 * 16 * 16));
  }
}

TEST(StepDelays, AreThoseOfAnEqualShareOfTheBatch) {
  const Experiment experiment = Read({"split.cut=pool1"});
  const SplitNetwork network = SplitOf(experiment);
  std::vector<DeviceProfile> devices = BuildFleet(experiment).value();
  devices[1].compute.value /= 10;
  devices[2].uplink.value /= 10;
  const std::vector<double> delays = StepDelays(experiment, network, devices);
  // conv1: 32 channels of 3×3×3 at 32×32 places; the front has 27·32 weights and 32 biases.
  const double forward = 32.0 * 27 * 32 * 32, bits = 8 * 4 * (27.0 * 32 + 32 + 16 * 32 * 16 * 16);
  const auto seconds = [&](double compute, double up, double down) {
    return 3 * 16 * forward / compute + bits / up + bits / down;
  };
  ASSERT_EQ(delays.size(), 4U);
  EXPECT_NEAR(delays[0], seconds(1e9, 1e7, 1e7), 1e-3 * delays[0]);
  EXPECT_NEAR(delays[1], seconds(1e8, 1e7, 1e7), 1e-3 * delays[1]);
  EXPECT_NEAR(delays[2], seconds(1e9, 1e6, 1e7), 1e-3 * delays[2]);
  EXPECT_EQ(delays[3], delays[0]);
}

}  // namespace
}  // namespace tributary::inline device
