#include "tributary/coordinator/simulation.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/coordinator/run_folder.h"
#include "tributary/coordinator/run_summary.h"
#include "tributary/data/load.h"
#include "tributary/data/saved_network.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/telemetry/digest.h"

namespace tributary {
namespace {

StatusOr<std::shared_ptr<const Model>> BuildFor(const std::string& name, const Experiment& experiment,
                                                const Dataset& data) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      Graph graph, BuildZooGraph({name, data.shape(), std::int64_t{data.classes()}, experiment.model.stem}));
  return std::make_shared<const Model>(std::move(graph));
}

// Deals the training samples out, and sets aside what each device holds out: the last of its own in a seeded order.
StatusOr<std::vector<LocalData>> DealOut(const Experiment& experiment, const Dataset& train) {
  SplitOptions split = experiment.data.split;
  split.devices = static_cast<int>(TotalDevices(experiment.fleet));
  split.seed = experiment.goal.seed;
  TRIBUTARY_ASSIGN_OR_RETURN(const Partition partition, MakeSplit(split, train.labels(), train.classes()));
  std::vector<LocalData> devices;
  for (std::size_t i = 0; i < partition.size(); ++i) {
    std::vector<std::uint32_t> samples = partition[i];
    Rng rng = Rng::ForStream(experiment.goal.seed, DeviceId{i}, "hold-out");
    Shuffle(rng, std::span(samples));
    const auto kept = samples.size() - static_cast<std::size_t>(std::floor(
                                           experiment.data.hold_out * static_cast<double>(samples.size())));
    LocalData data{&train, {}, {}};
    data.training.assign(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(kept));
    data.held_out.assign(samples.begin() + static_cast<std::ptrdiff_t>(kept), samples.end());
    std::sort(data.training.begin(), data.training.end());
    std::sort(data.held_out.begin(), data.held_out.end());
    devices.push_back(std::move(data));
  }
  return devices;
}

Status CheckMemory(const Model& charged, const Experiment& experiment, std::span<const DeviceProfile> profiles) {
  const Bytes needed = TrainingMemory(charged.costs, experiment.train.batch);
  for (const DeviceProfile& profile : profiles) {
    if (profile.memory >= needed) continue;
    return InvalidArgument("device " + std::to_string(profile.id.value) + " of group '" + profile.group + "' has " +
                           FormatBytes(profile.memory) + " of memory, but training " + charged.graph.name() +
                           " with batches of " + std::to_string(experiment.train.batch) + " takes about " +
                           FormatBytes(needed) + "; give it more, or choose a smaller batch or model");
  }
  return OkStatus();
}

}  // namespace

StatusOr<SimulationResult> Simulate(const Experiment& experiment, const SimulationOptions& options) {
  DataOptions data_options{.name = experiment.data.set,
                           .data_dir = options.data_dir,
                           .train_limit = experiment.data.train_limit,
                           .test_limit = experiment.data.test_limit};
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(data_options));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto model, BuildFor(experiment.model.name, experiment, data.train));
  TRIBUTARY_ASSIGN_OR_RETURN(
      const auto charged, BuildFor(experiment.model.compute_as.value_or(experiment.model.name), experiment, data.train));
  SimulatedFleetOptions fleet_options{.model = model, .charged = charged};
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.profiles, BuildFleet(experiment));
  TRIBUTARY_RETURN_IF_ERROR(CheckMemory(*charged, experiment, fleet_options.profiles));
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.data, DealOut(experiment, data.train));
  fleet_options.servers = experiment.fleet.servers;
  fleet_options.disturbances = experiment.disturbances;
  fleet_options.seed = experiment.goal.seed;
  fleet_options.threads = options.threads;
  SimulatedFleet fleet(std::move(fleet_options));

  std::optional<RunFolder> folder;
  if (options.folder) {
    TRIBUTARY_ASSIGN_OR_RETURN(folder, RunFolder::Create(*options.folder, experiment));
  }
  Digest digest;
  DigestSink digest_sink(digest);
  DeviceTotalsSink totals(fleet.devices().size());
  std::vector<EventSink*> sinks = {&digest_sink, &totals};
  if (folder) sinks.insert(sinks.end(), {&folder->events(), &folder->rounds()});
  if (options.watcher != nullptr) sinks.push_back(options.watcher);
  TeeSink events(sinks);

  Coordinator coordinator(experiment, model, fleet, events, [&](const SharedWeights& weights) {
    return fleet.EvaluateCentrally(data.test, weights);
  });
  SimulationResult result;
  TRIBUTARY_ASSIGN_OR_RETURN(result.run, coordinator.Run(options.should_stop));
  result.time = fleet.clock().Now();
  result.profiles.assign(fleet.devices().begin(), fleet.devices().end());
  result.devices = totals.totals();
  for (const DeviceTotals& device : result.devices) {
    result.down += device.down;
    result.up += device.up;
  }
  digest.Add(coordinator.parameters());
  digest.Add(coordinator.statistics());
  result.digest = digest.Hex();
  if (folder) {
    SavedNetwork network{{experiment.model.name, data.train.shape(), std::int64_t{data.train.classes()}, experiment.model.stem},
                         experiment.data.set,
                         data.train.normalisation()};
    TRIBUTARY_RETURN_IF_ERROR(folder->Finish(*model, coordinator.parameters(), coordinator.statistics(),
                                             ToMetadata(network), FormatSummary(experiment, result)));
  }
  return result;
}

}  // namespace tributary
