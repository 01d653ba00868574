#include "tributary/coordinator/simulation.h"

#include <algorithm>

#include "tributary/coordinator/facts.h"
#include "tributary/coordinator/run_folder.h"
#include "tributary/coordinator/run_summary.h"
#include "tributary/coordinator/split_setup.h"
#include "tributary/data/saved_network.h"
#include "tributary/device/setting.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/telemetry/digest.h"

namespace tributary {
namespace {

Status CheckMemory(const Model& charged, const Experiment& experiment,
                   std::span<const DeviceProfile> profiles) {
  // A global batch is divided among all.
  const auto devices = static_cast<std::int64_t>(profiles.size());
  const std::int64_t batch =
      experiment.global_batch() ? (experiment.train.batch + devices - 1) / devices : experiment.train.batch;
  const Bytes needed = TrainingMemory(charged.costs, batch);
  for (const DeviceProfile& profile : profiles) {
    if (profile.memory >= needed) continue;
    return InvalidArgument("device " + std::to_string(profile.id.value) + " of group '" + profile.group +
                           "' has " + FormatBytes(profile.memory) + " of memory, but training " +
                           charged.graph.name() + " with batches of " + std::to_string(batch) +
                           " takes about " + FormatBytes(needed) +
                           "; give it more, or choose a smaller batch or model");
  }
  return OkStatus();
}

// Real devices may bring streams of their own; simulated ones have those of the experiment.
Status CheckStreams(const StreamChoice& stream, std::span<const DeviceProfile> profiles) {
  if (stream.recorded_speed || stream.own) return OkStatus();
  if (stream.batch.rule == BatchRule::kFixed && stream.buffer == BufferPolicy::kPersist) return OkStatus();
  if (std::ranges::any_of(profiles,
                          [](const DeviceProfile& profile) { return profile.stream_rate.value > 0; })) {
    return OkStatus();
  }
  return InvalidArgument(
      "[stream] batch and buffer have a meaning on streams only, and no simulated device has one;"
      " give a [[fleet.group]] a stream-rate, or recorded-speed");
}

Status CheckRecorded(const Experiment& experiment, const Dataset& train) {
  if (!experiment.stream.recorded_speed || train.origins() != nullptr) return OkStatus();
  return InvalidArgument(
      "[stream] recorded-speed plays samples as they were recorded, and " + train.name() +
      " does not say when that was; give groups a stream-rate, or use recordings (har, or a folder of "
      ".csv files for each person)");
}

// Of every device, where the experiment names one that the program was given.
StatusOr<std::vector<std::shared_ptr<PolledStream>>> OwnStreams(const Experiment& experiment,
                                                                const Dataset& train,
                                                                const SimulatedFleetOptions& options) {
  std::vector<std::shared_ptr<PolledStream>> streams;
  if (!experiment.stream.own) return streams;
  const std::shared_ptr<const Dataset> dataset(std::shared_ptr<void>(), &train);  // It outlives the fleet.
  for (const DeviceProfile& profile : options.profiles) {
    if (options.data[profile.id.value].training.empty()) {  // It takes no part.
      streams.push_back(nullptr);
      continue;
    }
    StreamScene scene{.device = profile.id,
                      .seed = experiment.goal.seed,
                      .format = FormatOf(train),
                      .dataset = dataset,
                      .part = options.data[profile.id.value].training,
                      .rate = profile.stream_rate,
                      .start = TimePoint(0),
                      .argument = experiment.stream.own->argument};
    auto stream = experiment.stream.own->maker(scene);
    if (!stream.ok())
      return std::move(stream).status().WithContext("stream '" + experiment.stream.own->kind + "'");
    if (*stream == nullptr)
      return InvalidArgument("stream '" + experiment.stream.own->kind + "' was made as nothing");
    streams.push_back(std::make_shared<PolledStream>(std::move(*stream), scene.format));
  }
  return streams;
}

StatusOr<std::optional<SimulatedFleetOptions::Dropout>> DropoutOf(const Experiment& experiment,
                                                                  const Model& model) {
  std::optional<SimulatedFleetOptions::Dropout> dropout;
  if (!Chooses(experiment.dropout.method)) return dropout;
  TRIBUTARY_ASSIGN_OR_RETURN(DropoutMenu menu, DropoutMenu::Make(model, experiment.dropout));
  dropout = {ScalingOf(experiment.dropout, model.graph),
             std::make_shared<const DropoutMenu>(std::move(menu))};
  return dropout;
}

std::vector<std::int64_t> ClassCounts(const LocalData& data) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.dataset->classes()));
  for (const std::uint32_t sample : data.training)
    ++counts[static_cast<std::size_t>(data.dataset->label(sample))];
  return counts;
}

}  // namespace

StatusOr<FinishedRun> Simulate(const Experiment& asked, const SimulationOptions& options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadExperimentData(asked, options.data_dir));
  TRIBUTARY_RETURN_IF_ERROR(CheckRecorded(asked, data.train));
  const Shape& shape = data.train.shape();
  const int classes = data.train.classes();
  Experiment experiment = asked;
  TRIBUTARY_RETURN_IF_ERROR(FitNetworkToData(experiment, shape, classes));
  TRIBUTARY_RETURN_IF_ERROR(ResolveCut(experiment, shape, classes));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto whole,
                             BuildNetwork(experiment.model.name, experiment, shape, classes));
  TRIBUTARY_ASSIGN_OR_RETURN(StartingPoint start, StartFrom(experiment, whole, experiment.model.weights));
  const auto model = start.model;
  auto charged = model;
  if (experiment.model.compute_as) {
    TRIBUTARY_ASSIGN_OR_RETURN(charged,
                               BuildNetwork(*experiment.model.compute_as, experiment, shape, classes));
  }
  SimulatedFleetOptions fleet_options{.model = model, .charged = charged};
  std::unique_ptr<SplitHalf> half;
  std::optional<SplitSetup> split;
  if (experiment.train.method == Method::kSplit) {
    const SplitNetwork network = CutNetwork(experiment, model);
    half = MakeSplitHalf(experiment, network);
    split = SetupOf(experiment, network, *half);
    fleet_options.model = fleet_options.charged = network.held;
    fleet_options.cut = {
        network.cut,       network.wire, network.whole, network.rest, experiment.split.server_compute,
        half->waits_from()};
  }
  fleet_options.transfers = experiment.transfers;
  fleet_options.compression = experiment.compression;
  fleet_options.buffer = experiment.stream.buffer;
  fleet_options.recorded_speed = experiment.stream.recorded_speed;
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.profiles, BuildFleet(experiment));
  TRIBUTARY_RETURN_IF_ERROR(CheckMemory(*fleet_options.charged, experiment, fleet_options.profiles));
  TRIBUTARY_RETURN_IF_ERROR(CheckStreams(experiment.stream, fleet_options.profiles));
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.data, DealOut(experiment, data.train));
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.own_streams, OwnStreams(experiment, data.train, fleet_options));
  fleet_options.servers = experiment.fleet.servers;
  fleet_options.disturbances = experiment.disturbances;
  TRIBUTARY_ASSIGN_OR_RETURN(fleet_options.dropout, DropoutOf(experiment, *model));
  if (experiment.train.method == Method::kGossip) fleet_options.gossip = experiment.train.optimiser;
  fleet_options.seed = experiment.goal.seed;
  fleet_options.threads = options.threads;
  fleet_options.device = options.device;
  RunFacts facts = FactsOf(experiment, *fleet_options.model, true);
  for (std::size_t i = 0; i < fleet_options.profiles.size(); ++i) {
    facts.devices.push_back({"", fleet_options.profiles[i].group, ClassCounts(fleet_options.data[i])});
  }
  SimulatedFleet fleet(std::move(fleet_options));

  std::optional<RunFolder> folder;
  if (options.folder) {
    TRIBUTARY_ASSIGN_OR_RETURN(folder, RunFolder::Create(*options.folder, experiment));
    TRIBUTARY_RETURN_IF_ERROR(folder->Describe(facts));
  }
  Digest digest;
  DigestSink digest_sink(digest);
  DeviceTotalsSink totals;
  std::vector<EventSink*> sinks = {&digest_sink, &totals};
  if (folder) sinks.insert(sinks.end(), {&folder->events(), &folder->rounds()});
  if (options.watcher != nullptr) sinks.push_back(options.watcher);
  TeeSink events(sinks);
  events.Describe(facts);

  Coordinator coordinator(
      experiment, model, fleet, events,
      [&](const SharedWeights& weights) { return fleet.EvaluateCentrally(data.test, weights); },
      std::move(split));
  coordinator.StartAt({start.weights.parameters.span(), start.weights.statistics.span()});
  start.weights = {};
  TRIBUTARY_ASSIGN_OR_RETURN(const RunOutcome outcome, coordinator.Run(options.should_stop));
  FinishedRun result = MakeFinishedRun(fleet.devices(), totals);
  result.run = outcome;
  result.time = fleet.clock().Now();
  digest.Add(coordinator.parameters());
  digest.Add(coordinator.statistics());
  result.digest = digest.Hex();
  if (folder) {
    SavedNetwork network{
        NetworkOf(experiment.model.name, experiment, data.train.shape(), data.train.classes()),
        experiment.data.set, data.train.normalisation(), data.train.class_names()};
    TRIBUTARY_RETURN_IF_ERROR(folder->Finish(*model, coordinator.parameters(), coordinator.statistics(),
                                             ToMetadata(network), FormatSummary(experiment, result)));
  }
  return result;
}

}  // namespace tributary
