#include "tributary/coordinator/serving.h"

#include "tributary/base/wall_clock.h"
#include "tributary/base/worker_pool.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/data/record.h"
#include "tributary/data/saved_network.h"
#include "tributary/device/evaluation.h"
#include "tributary/device/own_update.h"
#include "tributary/device/setting.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/grpc/remote_fleet.h"
#include "tributary/fleet/protocol/audit_log.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline coordinator {
namespace {

Status CheckReal(const Experiment& experiment) {
  const auto only = [](const std::string& what) {
    return InvalidArgument(what + " is only valid on simulated devices; remove it, or use 'tributary run'");
  };
  if (experiment.model.compute_as) return only("[model] compute-as");
  if (!experiment.disturbances.empty()) return only("[[disturbance]]");
  return OkStatus();
}

// A new folder, or that of an interrupted run, with the checkpoint to resume from.
StatusOr<ResumedRun> OpenFolder(const Experiment& experiment, const ServingOptions& options,
                                RunTotals& totals) {
  if (!options.resume) {
    TRIBUTARY_ASSIGN_OR_RETURN(RunFolder folder, RunFolder::Create(options.folder, experiment));
    return ResumedRun{std::move(folder), {}};
  }
  std::vector<EventSink*> sinks = {&totals};
  if (options.watcher != nullptr) sinks.push_back(options.watcher);
  TRIBUTARY_ASSIGN_OR_RETURN(ResumedRun run, RunFolder::Resume(options.folder, experiment, sinks));
  for (const std::string& problem : run.checkpoint.problems) options.say(problem);
  const auto& file = run.checkpoint.file;
  options.say(file ? "resuming after round " + std::to_string(file->checkpoint().progress.round)
                   : "no checkpoint yet; starting over");
  return run;
}

// Writes the devices' names and groups to the folder and `others` when a new device has joined.
class DescribingSink : public EventSink {
 public:
  DescribingSink(const RemoteFleet& fleet, RunMetadata metadata, const RunFolder& folder, EventSink& others)
      : fleet_(fleet), metadata_(std::move(metadata)), folder_(folder), others_(others) {}

  void Write(const Event& event) override {
    if (std::holds_alternative<RoundStarted>(event.what) &&
        fleet_.devices().size() != metadata_.devices.size())
      Tell();
  }
  void Tell() {
    const std::vector<FleetMember> members = fleet_.members();
    metadata_.devices.clear();
    for (const DeviceProfile& profile : fleet_.devices()) {
      metadata_.devices.push_back({members[profile.id.value].name, profile.group, profile.label_counts});
    }
    (void)folder_.Describe(metadata_).ok();  // A failure must not stop the run.
    others_.Describe(metadata_);
  }

 private:
  const RemoteFleet& fleet_;
  RunMetadata metadata_;
  const RunFolder& folder_;
  EventSink& others_;
};

}  // namespace

StatusOr<FinishedRun> Serve(const Experiment& asked, const ServingOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckReal(asked));
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadExperimentData(asked, options.data_dir));
  const Dataset& train = data.train;
  Experiment experiment = asked;
  if (experiment.data.set.find('/') != std::string::npos) experiment.data.classes = train.class_names();
  TRIBUTARY_RETURN_IF_ERROR(FitNetworkToData(experiment, train.shape(), train.classes()));
  TRIBUTARY_ASSIGN_OR_RETURN(
      ExperimentNetwork network,
      BuildExperimentNetwork(experiment, train.shape(), train.classes(), experiment.model.weights));
  TRIBUTARY_ASSIGN_OR_RETURN(const LocalData own, CoordinatorSamples(experiment, train));
  FlatWeights& start = network.start.weights;
  const auto model = network.start.model;
  RunTotals totals;
  TRIBUTARY_ASSIGN_OR_RETURN(ResumedRun run, OpenFolder(experiment, options, totals));
  std::optional<CheckpointFile>& from = run.checkpoint.file;

  RemoteFleetOptions fleet_options{
      .model = model,
      .experiment = experiment,
      .samples = {train.name(), train.shape(), train.classes(), train.normalisation()},
      .element = FormatOf(train).element,
      .build = options.build,
      .listen = options.listen,
      .credentials = options.credentials,
      .revoked = options.revoked,
      .revoked_newest = run.folder.newest_revocations(),
      .wait_for = options.wait_for.value_or(static_cast<std::size_t>(TotalDevices(experiment.fleet))),
      .grace = options.grace,
      .incarnation = options.incarnation,
      .should_stop = options.should_stop};
  if (from) {
    fleet_options.members = from->checkpoint().members;
    if (from->checkpoint().progress.epoch.problem.sizes.size() > fleet_options.members.size()) {
      return Corrupt("the checkpoint's epoch has samples of devices that are not members");
    }
    // A resumed run waits for missing devices within its rounds, and a finished run not at all.
    if (from->checkpoint().progress.round > 0) fleet_options.wait_for = 0;
  }
  std::unique_ptr<ServerPart> server_part;
  std::optional<SplitSetup> split;
  if (network.split) {
    server_part = MakeServerPart(experiment, *network.split);
    split = SetupOf(experiment, *network.split, *server_part);
    fleet_options.model = network.device.model;
    fleet_options.cut = network.device.cut->wire;
  }
  RunMetadata metadata = MetadataOf(experiment, *fleet_options.model, false);
  TRIBUTARY_ASSIGN_OR_RETURN(const auto audit_log,
                             AuditLog::Open(options.folder / kAuditLog, SystemWallClock()));
  fleet_options.audit = [&log = *audit_log](std::string_view event, const AuditFields& fields) {
    log.Record(event, fields);
  };
  audit_log->Record(
      options.resume ? "resumed" : "begun",
      {{"experiment", experiment.goal.name}, {"build", options.build}, {"listen", options.listen}});
  auto started = RemoteFleet::Start(std::move(fleet_options));
  if (!started.ok()) {
    if (!options.resume) std::move(run.folder).Discard();
    return std::move(started).status();
  }
  const auto fleet = std::move(*started);
  options.say("listening on port " + std::to_string(fleet->port()));

  WorkerPool pool(options.threads, [](std::size_t) { SetComputeThreads(1); });
  std::vector<Worker> workers;
  for (std::size_t i = 0; i < options.threads; ++i) workers.emplace_back(model);
  TeeSink watchers(options.watcher != nullptr ? std::vector<EventSink*>{options.watcher}
                                              : std::vector<EventSink*>{});
  DescribingSink describing(*fleet, std::move(metadata), run.folder, watchers);
  describing.Tell();
  TeeSink events({&totals, &run.folder.events(), &run.folder.rounds(), &describing, &watchers});
  options.states([fleet = fleet.get()] { return fleet->states(); });
  // Revokes the function before the fleet is destroyed.
  const std::shared_ptr<void> looking_ends(nullptr, [&](void*) { options.states(nullptr); });
  Coordinator::CentralTest test;
  if (data.test.size() > 0)
    test = [&](const SharedWeights& weights) { return EvaluateInParts(pool, workers, data.test, weights); };
  Coordinator coordinator(experiment, model, *fleet, events, std::move(test), std::move(split),
                          options.folder,
                          [&](const TrainAssignment& assignment, const SharedWeights& weights) {
                            return LearnOwnUpdate(pool, workers, assignment, weights, own);
                          });
  coordinator.StartAt({start.parameters.span(), start.statistics.span()});
  start = {};
  RunProgress progress;
  if (from) {
    TRIBUTARY_RETURN_IF_ERROR(coordinator.Restore(*from));
    progress = from->checkpoint().progress;
    from.reset();
  }
  Checkpointer checkpointer(
      run.folder, [&] { return fleet->members(); }, options.checkpoints, progress,
      [&](std::span<const FleetMember> saved) { fleet->MarkDurable(saved); });
  const auto keeper = [&](const CoordinatorState& state) { return checkpointer.Write(state); };
  TRIBUTARY_ASSIGN_OR_RETURN(const RunOutcome outcome, coordinator.Run(options.should_stop, keeper));
  fleet->SayFarewell(outcome.reason != RunEnd::kInterrupted);
  Digest digest;
  FinishedRun result = MakeFinishedRun(outcome, coordinator, fleet->devices(), totals, digest);
  result.simulated = false;
  result.time = progress.elapsed + fleet->clock().Now();
  if (outcome.reason == RunEnd::kInterrupted) return result;  // The folder is kept for resuming.
  const SavedNetwork saved{NetworkOf(experiment.model.name, experiment, train.shape(), train.classes()),
                           experiment.data.set, train.normalisation(), train.class_names()};
  TRIBUTARY_RETURN_IF_ERROR(run.folder.Finish(*model, coordinator.parameters(), coordinator.statistics(),
                                              ToMetadata(saved), FormatSummary(experiment, result)));
  return result;
}

}  // namespace tributary::inline coordinator
