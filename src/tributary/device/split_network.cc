#include "tributary/device/split_network.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/model/split_points.h"
#include "tributary/model/zoo.h"
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

}  // namespace tributary::inline device
