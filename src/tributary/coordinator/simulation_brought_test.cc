// Networks that were brought, and layers that are frozen, simulated from end to end.

#include <gtest/gtest.h>
#include <unistd.h>

#include "tributary/base/file.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/reader.h"
#include "tributary/fleet/front_file.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"
#include "tributary/onnx/network_file.h"
#include "tributary/policy/dropout/testing_front.h"

namespace tributary::inline coordinator {
namespace {

constexpr Shape kGlyphs{3, 32, 32};

// A folder with the network of the zoo as a file, at the weights that a run of seed 1 starts from.
class SimulateBrought : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Bring(const std::string& name, std::int64_t classes = 10) {
    const Model model(BuildZooGraph({name, kGlyphs, classes}).value());
    FlatBuffer parameters(model.parameters.size), statistics(model.statistics.size);
    InitialiseWeights(model, 1, parameters.span(), statistics.span());
    ASSERT_TRUE(
        WriteNetworkFile(folder_ / (name + ".onnx"), model, parameters.span(), statistics.span(), {}).ok());
  }

  StatusOr<FinishedRun> Run(const std::string& model, const std::vector<std::string>& overrides,
                            const std::string& out = "") const {
    std::vector<std::string> all = {"experiment.rounds=2", "data.train-limit=200", "data.test-limit=20",
                                    "train.batch=8"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const std::string text =
        "schema = 1\n[experiment]\nname = \"brought\"\nrounds = 1\n[model]\n" + model +
        "\n[data]\nset = \"glyphs\"\n[[fleet.group]]\nname = \"all\"\ncount = 3\ncompute = \"1G\"\n"
        "uplink = \"10Mbit/s\"\n[train]\nmethod = \"sync-sgd\"\n";
    TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment,
                               ReadExperimentText(text, {"brought", folder_}, all));
    SimulationOptions options{.threads = 2};
    if (!out.empty()) options.folder = folder_ / out;
    return Simulate(experiment, options);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("brought_" + std::to_string(::getpid()));
};

// The same network by its name and by its file come to the same weights, whatever is done with it.
TEST_F(SimulateBrought, TrainsAsTheSameNetworkOfTheZoo) {
  Bring("resnet8");
  const Model model(BuildZooGraph({"resnet8", kGlyphs, 10}).value());
  ASSERT_TRUE(
      WriteFileAtomically(folder_ / "front.json", FormatFront(*testing::FrontFor(model, {0.8, 0.5, 0.2})))
          .ok());
  const std::vector<std::vector<std::string>> mechanisms = {
      {},
      {"transfers.strategy=layerwise", "compression.kind=top-k"},
      {"train.method=federated", "train.local-steps=2", "transfers.strategy=optimal"},
      {"train.method=split", "split.cut=auto"},
      {"train.method=split", "split.cut=layer1.0.relu", "split.variant=splitfed-v1"},
      {"train.method=federated", "train.local-steps=2", "dropout.method=heterofl", "fleet.deadline=400ms"},
      {"train.method=federated", "train.local-steps=2", "dropout.method=pareto", "fleet.deadline=400ms",
       "dropout.front=front.json"},
      {"train.method=federated", "train.local-steps=2", "model.freeze=[\"conv1\", \"layer1\"]"}};
  for (const std::vector<std::string>& overrides : mechanisms) {
    SCOPED_TRACE(overrides.empty() ? "" : overrides.back());
    const auto built_in = Run("name = \"resnet8\"", overrides, "a");
    const auto brought = Run("onnx = \"resnet8.onnx\"", overrides, "b");
    ASSERT_TRUE(built_in.ok() && brought.ok()) << built_in.status() << brought.status();
    EXPECT_EQ(built_in->digest, brought->digest);
    // What the run leaves behind is a network that can be read again.
    const auto saved = ReadNetworkFile(folder_ / "b" / "weights.safetensors");
    ASSERT_TRUE(saved.ok()) << saved.status();
    std::filesystem::remove_all(folder_ / "a");
    std::filesystem::remove_all(folder_ / "b");
  }
}

TEST_F(SimulateBrought, NeitherMovesNorSendsWhatIsFrozen) {
  Bring("resnet8");
  const auto whole = Run("onnx = \"resnet8.onnx\"", {});
  const auto frozen =
      Run("onnx = \"resnet8.onnx\"", {"model.freeze=[\"conv1\", \"layer1\", \"layer2\"]"}, "frozen");
  ASSERT_TRUE(whole.ok() && frozen.ok()) << whole.status() << frozen.status();
  EXPECT_LT(frozen->up.value, whole->up.value);
  EXPECT_LT(frozen->down.value, whole->down.value);
  EXPECT_LT(frozen->time, whole->time);

  const Model model(BuildZooGraph({"resnet8", kGlyphs, 10}).value());
  FlatBuffer before(model.parameters.size), after(model.parameters.size), statistics(model.statistics.size),
      moved(model.statistics.size);
  InitialiseWeights(model, 1, before.span(), statistics.span());
  const auto saved = ReadNetworkFile(folder_ / "frozen" / "weights.safetensors");
  ASSERT_TRUE(saved.ok() && saved->weights.CopyTo(model, after.span(), moved.span()).ok());
  for (const auto& [layout, a, b] : {std::tuple(&model.parameters, before.span(), after.span()),
                                     std::tuple(&model.statistics, statistics.span(), moved.span())}) {
    for (const Layout::Slot& slot : layout->slots) {
      const bool same = std::ranges::equal(a.subspan(slot.segment.offset, slot.segment.count),
                                           b.subspan(slot.segment.offset, slot.segment.count));
      const bool is_frozen = slot.name.starts_with("conv1") || slot.name.starts_with("bn1") ||
                             slot.name.starts_with("layer1") || slot.name.starts_with("layer2");
      EXPECT_EQ(same, is_frozen) << slot.name;
    }
  }
}

TEST_F(SimulateBrought, StartsTheHeadAnewForOtherClasses) {
  Bring("resnet8", 7);
  EXPECT_NE(
      Run("onnx = \"resnet8.onnx\"", {}).status().message().find("knows 7 classes, and the data have 10"),
      std::string::npos);
  const auto run = Run("onnx = \"resnet8.onnx\"\nnew-head = true", {});
  ASSERT_TRUE(run.ok()) << run.status();
}

TEST_F(SimulateBrought, SaysWhatDoesNotFit) {
  Bring("cnn");
  EXPECT_NE(
      Run("name = \"resnet8\"\nweights = \"cnn.onnx\"", {}).status().message().find("does not fit resnet8"),
      std::string::npos);
  EXPECT_EQ(Run("name = \"resnet8\"\nweights = \"gone.safetensors\"", {}).status().code(),
            StatusCode::kNotFound);
  EXPECT_NE(Run("onnx = \"cnn.onnx\"\nfreeze = [\"conv3\"]", {})
                .status()
                .message()
                .find("[model] freeze: unknown layer of cnn 'conv3'; did you mean 'conv"),
            std::string::npos);
  EXPECT_NE(Run("onnx = \"cnn.onnx\"\nfreeze = [\"conv1\"]", {"train.method=split"})
                .status()
                .message()
                .find("leave out model.freeze"),
            std::string::npos);
}

}  // namespace
}  // namespace tributary::inline coordinator
