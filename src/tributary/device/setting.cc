#include "tributary/device/setting.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/model/adapt_graph.h"
#include "tributary/model/initialise.h"
#include "tributary/model/model.h"
#include "tributary/model/split_points.h"
#include "tributary/onnx/network_file.h"
#include "tributary/policy/partitioning/submodular.h"
#include "tributary/policy/splitting/split_point_choice.h"

namespace tributary::inline device {
namespace {

double BytesPerValue(SplitPrecision precision) {
  return static_cast<double>(SplitBytes(precision, 1, 1000)) / 1000;
}

std::vector<SplitPointOption> OptionsOf(const SplitChoice& split, const Model& model) {
  return SplitPointOptionsOf(model, BytesPerValue(split.activations), BytesPerValue(split.gradients));
}

std::vector<SplitClient> ClientsOf(const Experiment& experiment, std::span<const DeviceProfile> devices) {
  std::vector<SplitClient> clients;
  const std::size_t sharing = experiment.global_batch() ? std::max<std::size_t>(1, devices.size()) : 1;
  const double share = static_cast<double>(experiment.train.batch) / static_cast<double>(sharing);
  for (const DeviceProfile& device : devices) {
    clients.push_back({.macs_per_second = device.compute.value,
                       .up_bits = device.uplink.value,
                       .down_bits = device.downlink.value,
                       .setup_seconds = ToSeconds(device.setup),
                       .round_trip_seconds = ToSeconds(device.round_trip),
                       .memory_bytes = static_cast<double>(device.memory.value),
                       .batch = std::max(1.0, share)});
  }
  return clients;
}

}  // namespace

Status ResolveSplitPoint(Experiment& experiment, const Shape& shape, int classes) {
  if (experiment.train.method != Method::kSplit) return OkStatus();
  SplitChoice& split = experiment.split;
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph({.name = experiment.model.name,
                                                         .input = shape,
                                                         .classes = std::int64_t{classes},
                                                         .stem = experiment.model.stem,
                                                         .imported = experiment.model.graph}));
  const Model model(std::move(graph));
  std::optional<NodeIndex> tail;
  if (split.tail) {
    auto found = FindSplitPoint(model.graph, model.cuts, *split.tail);
    if (!found.ok()) return std::move(found).status().WithContext("[split] tail");
    tail = *found;
  }
  if (split.cut == "auto") {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<DeviceProfile> devices, BuildFleet(experiment));
    std::vector<SplitPointOption> options = OptionsOf(split, model);
    std::erase_if(options, [&](const SplitPointOption& option) { return tail && option.node >= *tail; });
    if (options.empty())
      return InvalidArgument("[split] there is no cut before the tail '" + *split.tail + "'");
    auto choice = ChooseSplitPoint(options, ClientsOf(experiment, devices), split.server_compute.value);
    if (!choice.ok()) return std::move(choice).status().WithContext("[split] cut = \"auto\"");
    split.cut = model.graph.node(choice->node).name;
  }
  auto cut = FindSplitPoint(model.graph, model.cuts, split.cut);
  if (!cut.ok()) return std::move(cut).status().WithContext("[split] cut");
  if (tail && *cut >= *tail) {
    return InvalidArgument("[split] the tail begins after '" + *split.tail +
                           "', which does not come after the cut '" + split.cut +
                           "'; choose a later layer for tail, or an earlier cut");
  }
  return OkStatus();
}

SplitNetwork SplitNetworkAt(const Experiment& experiment, std::shared_ptr<const Model> whole) {
  SplitNetwork network;
  const Graph& graph = whole->graph;
  const auto find = [&](const std::string& layer) {
    const auto found = FindSplitPoint(graph, whole->cuts, layer);
    TRIBUTARY_CHECK(found.ok());
    return *found;
  };
  network.cut = find(experiment.split.cut);
  if (experiment.split.tail) network.tail = find(*experiment.split.tail);
  const auto model = [](Graph part) { return std::make_shared<const Model>(std::move(part)); };
  network.held =
      model(network.tail ? EndsOf(graph, network.cut, *network.tail) : PartOf(graph, 1, network.cut));
  network.rest = model(PartOf(graph, network.cut + 1, network.tail.value_or(graph.size() - 1)));
  const auto values = [&](NodeIndex node) { return static_cast<std::size_t>(graph.shape(node).elements()); };
  network.wire = {values(network.cut), network.tail ? values(*network.tail) : 0, experiment.split.activations,
                  experiment.split.gradients, whole->parameters.From(network.cut + 1) == 0};
  network.whole = std::move(whole);
  return network;
}

std::vector<double> StepDelays(const Experiment& experiment, const SplitNetwork& network,
                               std::span<const DeviceProfile> devices) {
  std::vector<double> delays;
  for (const SplitPointOption& option : OptionsOf(experiment.split, *network.whole)) {
    if (option.node != network.cut) continue;
    for (const SplitClient& client : ClientsOf(experiment, devices))
      delays.push_back(ClientSeconds(option, client));
  }
  return delays;
}

StatusOr<TrainTest> LoadExperimentData(const Experiment& experiment, const std::filesystem::path& data_dir) {
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadData({.name = experiment.data.set,
                                                       .data_dir = data_dir,
                                                       .train_limit = experiment.data.train_limit,
                                                       .test_limit = experiment.data.test_limit,
                                                       .classes = experiment.data.classes,
                                                       .images = experiment.data.images,
                                                       .sensors = experiment.data.sensors,
                                                       .own = experiment.data.own}));
  if (experiment.data.evaluate == MeasuredOn::kTest) return data;
  const std::size_t limit = experiment.data.test_limit.value_or(data.train.size());
  Dataset measured = data.train.Select(SampleRange(0, std::min(data.train.size(), limit)));
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
  if (name == experiment.model.name) {
    zoo.imported = experiment.model.graph;
    zoo.own = experiment.model.own;
  }
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

StatusOr<StartingPoint> FreezeLayers(StartingPoint start, std::span<const std::string> layers) {
  if (layers.empty()) return start;
  const Model& whole = *start.model;
  FlatWeights& all = start.weights;
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<bool> nodes, FrozenNodes(whole.graph, layers));
  const auto model = std::make_shared<const Model>(
      Freeze(whole, std::move(nodes), all.parameters.span(), all.statistics.span()));
  FlatWeights trained{FlatBuffer(model->parameters.size), FlatBuffer(model->statistics.size)};
  CopyTrained(whole.parameters, all.parameters.span(), model->parameters, trained.parameters.span());
  CopyTrained(whole.statistics, all.statistics.span(), model->statistics, trained.statistics.span());
  return StartingPoint{model, std::move(trained)};
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
  auto frozen = FreezeLayers({std::move(whole), std::move(all)}, experiment.model.freeze);
  if (!frozen.ok()) return std::move(frozen).status().WithContext("[model] freeze");
  return frozen;
}

StatusOr<ExperimentNetwork> BuildExperimentNetwork(const Experiment& experiment, const Shape& shape,
                                                   int classes, const std::string& weights) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto whole,
                             BuildNetwork(experiment.model.name, experiment, shape, classes));
  ExperimentNetwork network;
  TRIBUTARY_ASSIGN_OR_RETURN(network.start, StartFrom(experiment, whole, weights));
  network.device.model = network.start.model;
  if (experiment.train.method == Method::kSplit) {
    // A cut that another machine resolved may not exist in this network.
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

StatusOr<LocalData> CoordinatorSamples(const Experiment& experiment, const Dataset& train) {
  const std::size_t count = experiment.aggregation.own_samples();
  LocalData data{&train, {}, {}};
  if (count == 0) return data;
  if (count >= train.size()) {
    return InvalidArgument("aggregation.trusted-samples is " + std::to_string(count) + ", but " +
                           train.name() + " has " + std::to_string(train.size()) +
                           " training samples, of which devices need some; use fewer");
  }
  data.training = SampleRange(0, train.size());
  Rng rng = Rng::ForStream(experiment.goal.seed, DeviceId{0}, "coordinator-samples");
  Shuffle(rng, std::span(data.training));
  data.training.resize(count);
  std::ranges::sort(data.training);
  return data;
}

StatusOr<std::vector<LocalData>> DealOut(const Experiment& experiment, const Dataset& train) {
  TRIBUTARY_ASSIGN_OR_RETURN(Partition partition, DivideSamples(experiment, train));
  TRIBUTARY_ASSIGN_OR_RETURN(const LocalData coordinator, CoordinatorSamples(experiment, train));
  std::vector<LocalData> devices;
  for (std::size_t i = 0; i < partition.size(); ++i) {
    std::erase_if(partition[i], [&](std::uint32_t sample) {
      return std::ranges::binary_search(coordinator.training, sample);
    });
    devices.push_back(HoldOut(experiment, DeviceId{i}, train, partition[i]));
  }
  return devices;
}

}  // namespace tributary::inline device
