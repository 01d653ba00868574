#include "tributary/coordinator/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/coordinator/run_folder.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/data/saved_network.h"
#include "tributary/device/device_stream.h"
#include "tributary/device/setting.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline coordinator {
namespace {

Status CheckMemory(const Model& charged, const Experiment& experiment,
                   std::span<const DeviceProfile> profiles) {
  // A global batch is divided among all devices.
  const auto devices = static_cast<std::int64_t>(profiles.size());
  const std::int64_t batch =
      experiment.global_batch() ? (experiment.train.batch + devices - 1) / devices : experiment.train.batch;
  const Bytes needed = TrainingMemory(charged.costs, batch);
  for (const DeviceProfile& profile : profiles) {
    if (profile.memory >= needed) continue;
    return InvalidArgument(fmt::format(
        "device {} of group '{}' has {} of memory, but training {} with batches of {} takes about {}; "
        "give it more, or choose a smaller batch or model",
        profile.id.value, profile.group, FormatBytes(profile.memory), charged.graph.name(), batch,
        FormatBytes(needed)));
  }
  return OkStatus();
}

// Real devices may have their own streams; simulated ones only those of the experiment.
Status CheckStreams(const StreamChoice& stream, std::span<const DeviceProfile> profiles) {
  if (stream.recorded_speed || stream.own) return OkStatus();
  if (stream.batch.rule == BatchRule::kFixed && stream.buffer == BufferPolicy::kPersist) return OkStatus();
  const auto streams = [](const DeviceProfile& profile) { return profile.stream_rate.value > 0; };
  if (std::ranges::any_of(profiles, streams)) return OkStatus();
  return InvalidArgument(
      "[stream] batch and buffer are only valid with streams, and no simulated device has one;"
      " give a [[fleet.group]] a stream-rate, or recorded-speed");
}

Status CheckRecorded(const Experiment& experiment, const Dataset& train) {
  if (!experiment.stream.recorded_speed || train.origins() != nullptr) return OkStatus();
  return InvalidArgument("[stream] recorded-speed needs recording times, which " + train.name() +
                         " does not have; give groups a stream-rate, or use recordings (docs/data.md)");
}

// One custom stream per device, if the experiment names one.
StatusOr<std::vector<std::shared_ptr<PolledStream>>> OwnStreams(const Experiment& experiment,
                                                                const Dataset& train,
                                                                const SimulatedFleetOptions& options) {
  std::vector<std::shared_ptr<PolledStream>> streams;
  if (!experiment.stream.own) return streams;
  const std::shared_ptr<const Dataset> dataset(std::shared_ptr<void>(), &train);  // outlives the fleet
  for (const DeviceProfile& profile : options.profiles) {
    if (options.data[profile.id.value].training.empty()) {  // The device does not take part.
      streams.push_back(nullptr);
      continue;
    }
    TRIBUTARY_ASSIGN_OR_RETURN(
        auto stream, MakeOwnStream(*experiment.stream.own, {.device = profile.id,
                                                            .seed = experiment.goal.seed,
                                                            .format = FormatOf(train),
                                                            .dataset = dataset,
                                                            .part = options.data[profile.id.value].training,
                                                            .rate = profile.stream_rate,
                                                            .start = TimePoint(0),
                                                            .argument = experiment.stream.own->argument}));
    streams.push_back(std::make_shared<PolledStream>(std::move(stream), FormatOf(train)));
  }
  return streams;
}

}  // namespace

StatusOr<FinishedRun> Simulate(const Experiment& asked, const SimulationOptions& options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadExperimentData(asked, options.data_dir));
  TRIBUTARY_RETURN_IF_ERROR(CheckRecorded(asked, data.train));
  const Shape& shape = data.train.shape();
  const int classes = data.train.classes();
  Experiment experiment = asked;
  TRIBUTARY_RETURN_IF_ERROR(FitNetworkToData(experiment, shape, classes));
  TRIBUTARY_ASSIGN_OR_RETURN(ExperimentNetwork network,
                             BuildExperimentNetwork(experiment, shape, classes, experiment.model.weights));
  FlatWeights& start = network.start.weights;
  const auto model = network.start.model;
  auto charged = model;
  if (experiment.model.compute_as) {
    TRIBUTARY_ASSIGN_OR_RETURN(charged,
                               BuildNetwork(*experiment.model.compute_as, experiment, shape, classes));
  }
  SimulatedFleetOptions fleet_options{.training = network.device, .charged = charged};
  std::unique_ptr<ServerPart> server_part;
  std::optional<SplitSetup> split;
  if (network.split) {
    const SplitNetwork& parts = *network.split;
    server_part = MakeServerPart(experiment, parts);
    split = SetupOf(experiment, parts, *server_part);
    fleet_options.charged = parts.held;
    fleet_options.cut = {parts.whole, parts.rest, experiment.split.server_compute, server_part->waits_from()};
  }
  fleet_options.transfers = experiment.transfers;
  fleet_options.compression = experiment.compression;
  fleet_options.buffer = experiment.stream.buffer;
  fleet_options.recorded_speed = experiment.stream.recorded_speed;
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.profiles, BuildFleet(experiment));
  TRIBUTARY_RETURN_IF_ERROR(CheckMemory(*fleet_options.charged, experiment, fleet_options.profiles));
  TRIBUTARY_RETURN_IF_ERROR(CheckStreams(experiment.stream, fleet_options.profiles));
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.data, DealOut(experiment, data.train));
  TRIBUTARY_ASSIGN_OR_RETURN(const LocalData own, CoordinatorSamples(experiment, data.train));
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.own_streams, OwnStreams(experiment, data.train, fleet_options));
  fleet_options.servers = experiment.fleet.servers;
  fleet_options.disturbances = experiment.disturbances;
  if (experiment.train.method == Method::kGossip) fleet_options.gossip = experiment.train.optimiser;
  fleet_options.seed = experiment.goal.seed;
  fleet_options.threads = options.threads;
  fleet_options.device = options.device;
  RunMetadata metadata = MetadataOf(experiment, *network.device.model, true);
  for (std::size_t i = 0; i < fleet_options.profiles.size(); ++i) {
    metadata.devices.push_back({"", fleet_options.profiles[i].group, ClassCounts(fleet_options.data[i])});
  }
  SimulatedFleet fleet(std::move(fleet_options));

  std::optional<RunFolder> folder;
  if (options.folder) {
    TRIBUTARY_ASSIGN_OR_RETURN(folder, RunFolder::Create(*options.folder, experiment));
    TRIBUTARY_RETURN_IF_ERROR(folder->Describe(metadata));
  }
  Digest digest;
  DigestSink digest_sink(digest);
  RunTotals totals;
  std::vector<EventSink*> sinks = {&digest_sink, &totals};
  if (folder) sinks.insert(sinks.end(), {&folder->events(), &folder->rounds()});
  if (options.watcher != nullptr) sinks.push_back(options.watcher);
  TeeSink events(sinks);
  events.Describe(metadata);

  Coordinator::CentralTest test;
  if (data.test.size() > 0)
    test = [&](const SharedWeights& weights) { return fleet.EvaluateCentrally(data.test, weights); };
  Coordinator coordinator(experiment, model, fleet, events, std::move(test), std::move(split),
                          options.folder.value_or(std::filesystem::temp_directory_path()),
                          [&](const TrainAssignment& assignment, const SharedWeights& weights) {
                            return fleet.TrainCentrally(assignment, weights, own);
                          });
  coordinator.StartAt({start.parameters.span(), start.statistics.span()});
  start = {};
  TRIBUTARY_ASSIGN_OR_RETURN(const RunOutcome outcome, coordinator.Run(options.should_stop));
  FinishedRun result = MakeFinishedRun(outcome, coordinator, fleet.devices(), totals, digest);
  result.time = fleet.clock().Now();
  if (folder) {
    const SavedNetwork saved{
        NetworkOf(experiment.model.name, experiment, data.train.shape(), data.train.classes()),
        experiment.data.set, data.train.normalisation(), data.train.class_names()};
    TRIBUTARY_RETURN_IF_ERROR(folder->Finish(*model, coordinator.parameters(), coordinator.statistics(),
                                             ToMetadata(saved), FormatSummary(experiment, result)));
  }
  return result;
}

}  // namespace tributary::inline coordinator
