#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/checkpoint.h"
#include "tributary/coordinator/round_method.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/update_journal.h"
#include "tributary/model/model.h"
#include "tributary/policy/trust/limited_sink.h"
#include "tributary/policy/trust/trust.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {

// The weights after some number of changes.
struct WeightsVersion {
  std::uint64_t number = 0;
  FlatBuffer parameters, statistics;

  SharedWeights weights() const { return {parameters.span(), statistics.span()}; }
};

// The versions of the weights that are in use: the newest one, and older ones as long as there is a lease on them, which
// is while a device may still be sent them. A synchronous round returns its lease before the next version begins, and then
// the newest version is changed where it lies; otherwise it is copied first. Versions in use are bounded.
class WeightsVersions {
 public:
  // Version 0 is all zeros.
  explicit WeightsVersions(const Model& model, std::size_t most = 8);

  const WeightsVersion& newest() const { return *newest_; }
  // The newest version stays as it is while the lease lives, and longer than this object if need be.
  std::shared_ptr<const WeightsVersion> Lease() const { return newest_; }

  // Begins a new version, which holds the newest one's values, for the caller to change before the next Lease.
  // ResourceExhausted if that takes a copy and too many versions are in use; then nothing has changed.
  StatusOr<WeightsVersion*> Advance();

 private:
  const std::size_t most_;
  std::shared_ptr<WeightsVersion> newest_;
  std::vector<std::weak_ptr<const WeightsVersion>> older_;
};

struct RunOutcome {
  std::uint64_t rounds = 0;
  RunEnd reason = RunEnd::kRounds;
  std::optional<double> accuracy;  // of the final weights
};

// What a checkpoint stores. Spans point into the coordinator and are valid during the call.
struct CoordinatorState {
  RunProgress progress;
  std::vector<SafetensorsSource> arrays;  // as a checkpoint holds them
  bool ending = false;                    // no round follows
};

// Runs an experiment over a fleet, real or simulated: round after round it chooses who takes part, has them work,
// applies what the experiment's aggregation rule makes of what came back, evaluates, and says what happened. The decisions are policies' and the
// method's; this is their wiring, and the one loop of every run.
class Coordinator {
 public:
  // Measures the weights on a test set of the coordinator's. May be empty: then only devices evaluate, on what they
  // hold out.
  using CentralTest = std::function<StatusOr<EvaluationTotals>(const SharedWeights&)>;

  // Everything but the experiment must outlive it. Weights start at the seed's initial values, unless StartAt says otherwise.
  // `split` is for the method of that name, and `model` then the whole network. `spool` is the folder for updates that
  // are kept for a while (update_journal.h).
  Coordinator(const Experiment& experiment, std::shared_ptr<const Model> model, Fleet& fleet,
              EventSink& events, CentralTest central_test, std::optional<SplitSetup> split = {},
              std::filesystem::path spool = "/tmp");

  // Before Run.
  void StartAt(const SharedWeights& weights);

  // Told of every round when it is over and evaluated, and once more when no other follows, with the state after the
  // last round, unless its evaluation was broken off. A failure ends the run.
  using Keeper = std::function<Status(const CoordinatorState&)>;

  // Goes on after the checkpoint's last round: Run then says that it resumed, and time counts on from the checkpoint's.
  // At most once, before Run. A checkpoint of another network or optimiser is refused, and nothing changed.
  Status Restore(const CheckpointFile& file);

  // Until the experiment's rounds, time or target are reached, or `should_stop` says so between two rounds, or a round is
  // abandoned because the fleet was told to stop (Cancelled), which leaves everything as it was before that round. Fails
  // if the fleet fails, if round after round nobody's update can be used, or if no update was applied in any round.
  StatusOr<RunOutcome> Run(const std::function<bool()>& should_stop = {}, const Keeper& keeper = {});

  std::span<const float> parameters() const { return weights().parameters; }
  std::span<const float> statistics() const { return weights().statistics; }

 private:
  // Everybody who has something to train on, once the fleet has gathered.
  Status GatherDevices();
  WorkOrder OrderOf(RoundId round, Work work, std::vector<DeviceId> participants) const;
  // Has the fleet carry the order out, as a synchronous round from the newest weights.
  StatusOr<RoundReport> CarryOut(WorkOrder order, UpdateSink* sink = nullptr);
  std::size_t QuorumOf(std::size_t asked) const;
  std::vector<DeviceId> ChooseFor(RoundId round) const;
  Status RunRound(RoundId round);
  // How many samples each participant takes; none where it is the same for all.
  std::vector<std::size_t> BatchesFor(const WorkOrder& order) const;
  // Begins the round's aggregate, and with it the limits of what one device may add.
  void BeginAggregate(const WorkOrder& request);
  // The longest update, as a multiple of the usual norm; 0 for no limit.
  double Clip() const;
  // Reports what the limits did, and learns from the norms. False if the updates are too unlike each other to be applied.
  bool JudgeUpdates(RoundId round, RoundReport& report);
  // What the learning rate is multiplied by for a step over what was applied.
  double RateFactorOf(const RoundReport& report) const;
  Status Apply(RoundId round, double rate_factor);
  // Where devices have models of their own: the coordinator's becomes their mean.
  Status CollectMean(RoundId round);
  Status Evaluate(RoundId round);
  void Record(RoundId round, EvaluatedWhere where, const EvaluationTotals& totals);
  std::optional<RunEnd> Over(std::uint64_t rounds) const;
  StatusOr<RunEnd> RunRounds(const std::function<bool()>& should_stop, const Keeper& keeper);
  Status Keep(const Keeper& keeper, bool ending);
  Status MakeMethod();
  // What a checkpoint holds, by name; `weights` is the version to read or to fill.
  template <typename Visit>
  void ForEachArray(auto& weights, const Visit& visit);
  // Of the run's clock: the fleet's, moved so that a resumed run goes on where it stood.
  TimePoint Now() const { return fleet_.clock().Now() + clock_offset_; }
  SharedWeights weights() const { return versions_.newest().weights(); }
  void Say(decltype(Event::what) what) { events_.Write({Now(), std::move(what)}); }

  const Experiment experiment_;
  const std::shared_ptr<const Model> model_;
  Fleet& fleet_;
  EventSink& events_;
  const CentralTest central_test_;
  const std::optional<SplitSetup> split_;
  std::vector<DeviceId> with_data_;
  WeightsVersions versions_;
  UpdateJournal journal_;
  std::unique_ptr<Aggregator> aggregate_;
  LimitedSink limited_{journal_};
  NormHistory norms_;
  std::unique_ptr<RoundMethod> method_;
  std::optional<double> accuracy_;
  std::uint64_t fruitless_rounds_ = 0;  // in a row
  std::uint64_t unapplied_rounds_ = 0;  // in all
  RunProgress kept_;                    // after the last round
  bool resumed_ = false;
  Duration clock_offset_{0};
};

}  // namespace tributary::inline coordinator
