#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/coordinator/checkpoint.h"
#include "tributary/coordinator/round_method.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/coordinator/sound_version.h"
#include "tributary/coordinator/update_limits.h"
#include "tributary/coordinator/weights_versions.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/update_journal.h"
#include "tributary/model/model.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {

struct RunOutcome {
  std::uint64_t rounds = 0;
  RunEnd reason = RunEnd::kRounds;
  std::optional<double> accuracy;  // of the final weights
};

// What a checkpoint stores. Spans point into the coordinator and are valid during the call.
struct CoordinatorState {
  RunProgress progress;
  std::vector<SafetensorsSource> arrays;  // as in a checkpoint
  bool ending = false;                    // no round follows
};

// Runs an experiment on a real or simulated fleet: in every round selects participants, has them train,
// aggregates and applies their updates, evaluates, and writes events. Policies and methods make the
// decisions; this class connects them and has the only round loop.
class Coordinator {
 public:
  // Evaluates weights on the coordinator's test set. If empty, only devices evaluate, on held-out samples.
  using CentralTest = std::function<StatusOr<EvaluationTotals>(const SharedWeights&)>;

  // Carries out an assignment on the coordinator's own samples; returns the update's parameters. Only for aggregation rules
  // that compare updates with it.
  using OwnTraining =
      std::function<StatusOr<std::vector<float>>(const TrainAssignment&, const SharedWeights&)>;

  // Everything except the experiment must outlive the coordinator. Weights are initialised from the seed
  // unless StartAt is called. `split` is for the method `split`, where `model` is the whole network. `spool`
  // is the folder for updates that are stored temporarily (update_journal.h).
  Coordinator(const Experiment& experiment, std::shared_ptr<const Model> model, Fleet& fleet,
              EventSink& events, CentralTest central_test, std::optional<SplitSetup> split = {},
              std::filesystem::path spool = "/tmp", OwnTraining own_training = {});

  // Call before Run.
  void StartAt(const SharedWeights& weights);

  // Called after every round and its evaluation, and once more at the end with the state after the last
  // round, unless its evaluation was cancelled. An error ends the run.
  using Keeper = std::function<Status(const CoordinatorState&)>;

  // Continues after the checkpoint's last round and at its time; Run logs that it resumed. Call at most once,
  // before Run. Refuses, without effect, checkpoints of another network or optimiser.
  Status Restore(const CheckpointFile& file);

  // Runs until the experiment's rounds (in which updates were applied), time or target are reached, `should_stop` returns true between
  // rounds, or the fleet is stopped within a round (Cancelled), which is then undone. Fails if the fleet
  // fails, too many rounds in a row have no usable update, or no update was applied in any round.
  StatusOr<RunOutcome> Run(const std::function<bool()>& should_stop = {}, const Keeper& keeper = {});

  std::span<const float> parameters() const { return weights().parameters; }
  std::span<const float> statistics() const { return weights().statistics; }

 private:
  // Updates the list of devices that have training samples.
  Status GatherDevices();
  WorkOrder OrderOf(RoundId round, Work work, std::vector<DeviceId> participants) const;
  // Carries out the order on the fleet, as a synchronous round from the newest weights.
  StatusOr<RoundReport> CarryOut(WorkOrder order, UpdateSink* sink = nullptr);
  std::size_t QuorumOf(std::size_t asked) const;
  std::vector<DeviceId> ChooseFor(RoundId round) const;
  Status RunRound(RoundId round);
  // Batch size per participant; empty if all are the same.
  std::vector<std::size_t> BatchesFor(const WorkOrder& order) const;
  // Begins the round's aggregate, and with it the limits of one device's update.
  void BeginAggregate(const WorkOrder& request);
  // Whether the updates may be applied, by the aggregation rule; reports why not.
  StatusOr<bool> InspectUpdates(RoundId round);
  // Factor of the learning rate for the step over the applied updates.
  double RateFactorOf(const RoundReport& report) const;
  Status Apply(RoundId round, double rate_factor);
  // Judges the loss of the weights after round `of`, at the end of `round` or of the run (`last`); rolls back if the run
  // diverges. Whether it did.
  StatusOr<bool> Watch(RoundId round, std::uint64_t of, double loss, bool last);
  // Returns to the last sound weights and quarantines the devices that are to blame (DivergenceGuard::Culprits).
  Status RollBack(RoundId round, double loss, bool outliers_only);
  // With a test set, judges the loss on it after a round, evaluated for this if something is wrong.
  Status WatchTestLoss(RoundId round, bool last);
  // For devices with their own models: sets the coordinator's model to their mean.
  Status CollectMean(RoundId round);
  Status Evaluate(RoundId round);
  void Record(RoundId round, EvaluatedWhere where, const EvaluationTotals& totals);
  // Whether a goal is reached after so many rounds; rounds without an applied update do not count.
  std::optional<RunEnd> Over(std::uint64_t rounds) const;
  StatusOr<RunEnd> RunRounds(const std::function<bool()>& should_stop, const Keeper& keeper);
  Status Keep(const Keeper& keeper, bool ending);
  Status MakeMethod();
  // Visits the arrays of a checkpoint by name; `weights` is the version to read or write.
  template <typename Visit>
  void ForEachArray(auto& weights, const Visit& visit);
  // The run's clock: the fleet's clock plus an offset after resuming.
  TimePoint Now() const { return fleet_.clock().Now() + clock_offset_; }
  SharedWeights weights() const { return versions_.newest().weights(); }
  void Say(decltype(Event::what) what) { events_.Write({Now(), std::move(what)}); }

  const Experiment experiment_;
  const std::shared_ptr<const Model> model_;
  Fleet& fleet_;
  EventSink& events_;
  const CentralTest central_test_;
  const OwnTraining own_training_;
  const std::optional<SplitSetup> split_;
  std::vector<DeviceId> with_data_;
  WeightsVersions versions_;
  UpdateJournal journal_;
  std::unique_ptr<Aggregator> aggregate_;
  UpdateLimits limits_;
  SoundVersion sound_;
  std::optional<double> test_loss_;  // of the newest weights
  bool alarmed_ = false;             // in the last round most devices failed, or their loss was high
  std::unique_ptr<RoundMethod> method_;
  std::optional<double> accuracy_;
  std::uint64_t fruitless_rounds_ = 0;  // in a row
  std::uint64_t unapplied_rounds_ = 0;  // in total
  RunProgress kept_;                    // after the last round
  bool resumed_ = false;
  Duration clock_offset_{0};
};

}  // namespace tributary::inline coordinator
