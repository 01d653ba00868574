#include "tributary/device/setting.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/model/adapt_graph.h"
#include "tributary/model/initialise.h"
#include "tributary/model/model.h"
#include "tributary/onnx/network_file.h"
#include "tributary/policy/partitioning/submodular.h"

namespace tributary::inline device {

StatusOr<TrainTest> LoadExperimentData(const Experiment& experiment, const std::filesystem::path& data_dir) {
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadData({.name = experiment.data.set,
                                                       .data_dir = data_dir,
                                                       .train_limit = experiment.data.train_limit,
                                                       .test_limit = experiment.data.test_limit,
                                                       .classes = experiment.data.classes,
                                                       .images = experiment.data.images,
                                                       .sensors = experiment.data.sensors}));
  if (experiment.data.evaluate == MeasuredOn::kTest) return data;
  std::vector<std::uint32_t> first(
      std::min(data.train.size(), experiment.data.test_limit.value_or(data.train.size())));
  std::iota(first.begin(), first.end(), 0U);
  Dataset measured = data.train.Select(first);
  return TrainTest{std::move(data.train), std::move(measured)};
}

StatusOr<std::shared_ptr<const Model>> BuildNetwork(const std::string& name, const Experiment& experiment,
                                                    const Shape& shape, int classes) {
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(NetworkOf(name, experiment, shape, classes)));
  return std::make_shared<const Model>(std::move(graph));
}

ZooOptions NetworkOf(const std::string& name, const Experiment& experiment, const Shape& shape, int classes) {
  ZooOptions zoo{name, shape, std::int64_t{classes}, experiment.model.stem, {}, {}};
  if (experiment.train.method == Method::kSplit) {
    zoo.cut = experiment.split.cut;
    zoo.tail = experiment.split.tail.value_or("");
  }
  if (name == experiment.model.name) zoo.imported = experiment.model.graph;
  if (experiment.dropout.method->menu == SubnetworkRule::Menu::kNarrow) zoo.width = experiment.dropout.width;
  return zoo;
}

Status FitNetworkToData(Experiment& experiment, const Shape& shape, int classes) {
  ModelChoice& model = experiment.model;
  if (model.graph) {
    TRIBUTARY_ASSIGN_OR_RETURN(Graph fitted, FitToData(*model.graph, shape, classes, model.new_head));
    model.graph = std::make_shared<const Graph>(std::move(fitted));
  }
  return ResolveSplitPoint(experiment, shape, classes);
}

StatusOr<StartingPoint> StartFrom(const Experiment& experiment, std::shared_ptr<const Model> whole,
                                  const std::string& weights) {
  FlatWeights all{FlatBuffer(whole->parameters.size), FlatBuffer(whole->statistics.size)};
  InitialiseWeights(*whole, experiment.goal.seed, all.parameters.span(), all.statistics.span());
  if (!weights.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(const NetworkFile file,
                               ReadNetworkFile(weights, {experiment.model.name, whole->graph.input_shape()}));
    const WeightsFile::Fit fit{.new_head = experiment.model.new_head,
                               .other_norms = experiment.train.method == Method::kSplit};
    auto copied = file.weights.CopyTo(*whole, all.parameters.span(), all.statistics.span(), fit);
    if (!copied.ok()) return std::move(copied).WithContext("[model] weights");
  }
  if (experiment.model.freeze.empty()) return StartingPoint{std::move(whole), std::move(all)};
  auto nodes = FrozenNodes(whole->graph, experiment.model.freeze);
  if (!nodes.ok()) return std::move(nodes).status().WithContext("[model] freeze");
  const auto model = std::make_shared<const Model>(
      Freeze(*whole, std::move(nodes).value(), all.parameters.span(), all.statistics.span()));
  FlatWeights trained{FlatBuffer(model->parameters.size), FlatBuffer(model->statistics.size)};
  CopyTrained(whole->parameters, all.parameters.span(), model->parameters, trained.parameters.span());
  CopyTrained(whole->statistics, all.statistics.span(), model->statistics, trained.statistics.span());
  return StartingPoint{model, std::move(trained)};
}

StatusOr<ExperimentNetwork> BuildExperimentNetwork(const Experiment& experiment, const Shape& shape,
                                                   int classes, const std::string& weights) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto whole,
                             BuildNetwork(experiment.model.name, experiment, shape, classes));
  ExperimentNetwork network;
  TRIBUTARY_ASSIGN_OR_RETURN(network.start, StartFrom(experiment, whole, weights));
  network.device.model = network.start.model;
  if (experiment.train.method == Method::kSplit) {
    // A cut that another machine has resolved need not be one of this network.
    Experiment resolved = experiment;
    TRIBUTARY_RETURN_IF_ERROR(ResolveSplitPoint(resolved, shape, classes));
    const SplitNetwork& split = network.split.emplace(SplitNetworkAt(resolved, network.start.model));
    network.device.model = split.held;
    network.device.cut = {split.cut, split.wire};
  }
  if (experiment.dropout.method->Chooses()) {
    const Model& model = *network.device.model;
    TRIBUTARY_ASSIGN_OR_RETURN(DropoutMenu menu, DropoutMenu::Make(model, experiment.dropout));
    network.device.sub_networks = {ScalingOf(experiment.dropout, model.graph),
                                   std::make_shared<const DropoutMenu>(std::move(menu))};
  }
  return network;
}

LocalData HoldOut(const Experiment& experiment, DeviceId device, const Dataset& dataset,
                  std::vector<std::uint32_t> samples) {
  Rng rng = Rng::ForStream(experiment.goal.seed, device, "hold-out");
  Shuffle(rng, std::span(samples));
  const auto held =
      static_cast<std::ptrdiff_t>(std::floor(experiment.data.hold_out * static_cast<double>(samples.size())));
  LocalData data{&dataset, {samples.begin(), samples.end() - held}, {samples.end() - held, samples.end()}};
  std::sort(data.training.begin(), data.training.end());
  std::sort(data.held_out.begin(), data.held_out.end());
  return data;
}

namespace {

constexpr std::size_t kComponents = 64;

StatusOr<Partition> DivideSamples(const Experiment& experiment, const Dataset& train) {
  SplitOptions split = experiment.data.split;
  const ShardChoice& shards = experiment.data.shards;
  split.devices = static_cast<int>(TotalDevices(experiment.fleet));
  split.seed = experiment.goal.seed;
  split.speeds.assign(static_cast<std::size_t>(split.devices), 1.0);
  if (shards.by_speed) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto profiles, BuildFleet(experiment));
    std::ranges::transform(profiles, split.speeds.begin(),
                           [](const DeviceProfile& device) { return device.compute.value; });
  }
  if (split.kind != "submodular") return MakeSplit(split, train.labels(), train.classes(), train.sources());
  FeatureChoice choice;
  if (!shards.features.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(choice, ParseFeatureChoice(shards.features));
  } else if (static_cast<std::size_t>(train.shape().elements()) > kComponents && train.size() > kComponents) {
    choice.components = kComponents;
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const LabelledFeatures made, FeaturesOfDataset(train, choice, split.seed));
  SubmodularOptions options;
  options.speeds = split.speeds;
  options.objective = shards.objective;
  options.choice = shards.choice;
  options.width = shards.width;
  options.seed = split.seed;
  TRIBUTARY_ASSIGN_OR_RETURN(SubmodularSplit made_split,
                             SplitSubmodular(made.features(), made.labels, made.classes, options));
  return std::move(made_split.partition);
}

}  // namespace

StatusOr<std::vector<LocalData>> DealOut(const Experiment& experiment, const Dataset& train) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Partition partition, DivideSamples(experiment, train));
  std::vector<LocalData> devices;
  for (std::size_t i = 0; i < partition.size(); ++i) {
    devices.push_back(HoldOut(experiment, DeviceId{i}, train, partition[i]));
  }
  return devices;
}

}  // namespace tributary::inline device
