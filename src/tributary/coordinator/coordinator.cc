#include "tributary/coordinator/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tributary/coordinator/finished_run.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/synchronous_round.h"
#include "tributary/model/initialise.h"
#include "tributary/policy/participation/participation.h"

namespace tributary::inline coordinator {
namespace {

constexpr std::uint64_t kMostFruitlessRounds = 100;

// Upper bound of each participant's weight: the samples of its assignment and those it receives.
std::vector<double> MostWeights(const WorkOrder& request, std::span<const DeviceProfile> devices,
                                std::size_t shared) {
  std::vector<double> weights;
  TrainAssignment assignment = request.training();
  for (std::size_t i = 0; i < request.participants.size(); ++i) {
    assignment.batch = request.BatchOf(i);
    weights.push_back(MostWeight(assignment, devices[request.participants[i].value].samples) +
                      static_cast<double>(shared));
  }
  return weights;
}

// The sub-networks that devices trained.
std::vector<TrainedPart> TrainedPartsOf(const RoundReport& report) {
  std::vector<TrainedPart> parts;
  for (const DeviceReport& device : report.devices) {
    if (device.outcome != Outcome::kApplied || !device.kept) continue;
    parts.push_back({device.device, static_cast<double>(device.metrics.samples), device.kept->entries});
  }
  return parts;
}

}  // namespace

Coordinator::Coordinator(const Experiment& experiment, std::shared_ptr<const Model> model, Fleet& fleet,
                         EventSink& events, CentralTest central_test, std::optional<SplitSetup> split,
                         std::filesystem::path spool, OwnTraining own_training)
    : experiment_(experiment),
      model_(std::move(model)),
      fleet_(fleet),
      events_(events),
      central_test_(std::move(central_test)),
      own_training_(std::move(own_training)),
      split_(std::move(split)),
      versions_(*model_),
      journal_(std::move(spool)),
      limits_(experiment_, LossOfAGuess(*model_), journal_),
      sound_(experiment_, *model_) {
  WeightsVersion& first = **versions_.Advance();
  InitialiseWeights(*model_, experiment_.goal.seed, first.parameters.span(), first.statistics.span());
}

void Coordinator::StartAt(const SharedWeights& weights) {
  WeightsVersion& next = **versions_.Advance();
  TRIBUTARY_CHECK(weights.parameters.size() == next.parameters.size() &&
                  weights.statistics.size() == next.statistics.size());
  std::ranges::copy(weights.parameters, next.parameters.data());
  std::ranges::copy(weights.statistics, next.statistics.data());
}

std::optional<RunEnd> Coordinator::Over(std::uint64_t rounds) const {
  const Goal& goal = experiment_.goal;
  if (goal.target_accuracy && accuracy_ && *accuracy_ >= *goal.target_accuracy) return RunEnd::kTarget;
  if (goal.rounds && rounds - unapplied_rounds_ >= static_cast<std::uint64_t>(*goal.rounds))
    return RunEnd::kRounds;
  if (goal.time_budget && Now() >= *goal.time_budget) return RunEnd::kTime;
  return std::nullopt;
}

Status Coordinator::GatherDevices() {
  TRIBUTARY_RETURN_IF_ERROR(fleet_.Gather());
  with_data_.clear();
  for (const DeviceProfile& device : fleet_.devices()) {
    if (device.samples > 0) with_data_.push_back(device.id);
  }
  return with_data_.empty() ? InvalidArgument("no device has training samples") : OkStatus();
}

std::vector<DeviceId> Coordinator::ChooseFor(RoundId round) const {
  const auto all = static_cast<std::int64_t>(with_data_.size());
  const auto wanted = static_cast<std::size_t>(experiment_.fleet.participation.Of(all));
  // Gossip needs participants that are present; otherwise an absent device may return in time.
  if (wanted >= with_data_.size() && !method_->devices_own_models()) return with_data_;
  // A random selection is made among the devices that are present.
  std::vector<DeviceId> present;
  std::ranges::copy_if(with_data_, std::back_inserter(present),
                       [&](DeviceId device) { return fleet_.Present(device); });
  if (wanted >= present.size()) return present;
  return ChooseParticipants(present, wanted, experiment_.goal.seed, round);
}

WorkOrder Coordinator::OrderOf(RoundId round, Work work, std::vector<DeviceId> participants) const {
  WorkOrder order{.round = round, .participants = std::move(participants), .weights = weights()};
  order.work = std::move(work);
  order.deadline = experiment_.fleet.deadline;
  order.quorum = QuorumOf(order.participants.size());
  return order;
}

StatusOr<RoundReport> Coordinator::CarryOut(WorkOrder order, UpdateSink* sink) {
  order.lease = versions_.Lease();
  return tributary::RunRound(fleet_, std::move(order), sink);
}

std::size_t Coordinator::QuorumOf(std::size_t asked) const {
  if (const std::optional<std::size_t> quorum = fleet_.quorum()) return std::min(*quorum, asked);
  return static_cast<std::size_t>(experiment_.fleet.quorum.Of(static_cast<std::int64_t>(asked)));
}

Status Coordinator::MakeMethod() {
  if (method_ != nullptr) return OkStatus();
  const std::size_t size = parameters().size();
  const AggregationOptions& aggregation = experiment_.aggregation;
  const OwnUpdate own_update = [this] {  // of the round under way
    return own_training_(method_->Assign(RoundId{kept_.round + 1}), weights());
  };
  TRIBUTARY_ASSIGN_OR_RETURN(
      aggregate_, aggregation.rule->make({*model_, journal_, experiment_.dropout, experiment_.goal.seed,
                                          aggregation.numbers, own_update}));
  TRIBUTARY_ASSIGN_OR_RETURN(method_, MakeRoundMethod(experiment_, size, split_ ? &*split_ : nullptr));
  return OkStatus();
}

template <typename Visit>
void Coordinator::ForEachArray(auto& weights, const Visit& visit) {
  visit("parameters", weights.parameters.span());
  visit("statistics", weights.statistics.span());
  for (const Optimiser::StateArray& array : method_->optimiser().State()) {
    visit("optimiser." + std::string(array.name), array.values);
  }
}

Status Coordinator::Restore(const CheckpointFile& file) {
  TRIBUTARY_RETURN_IF_ERROR(MakeMethod());
  std::vector<CheckpointFile::Target> targets;
  TRIBUTARY_ASSIGN_OR_RETURN(WeightsVersion* const next, versions_.Advance());
  ForEachArray(*next, [&](std::string name, std::span<float> values) {
    targets.push_back({std::move(name), values});
  });
  const RunProgress& progress = file.checkpoint().progress;
  if (sound_.on()) {
    sound_.Restore(progress, *model_, versions_.Lease(), [&](std::string name, std::span<float> values) {
      targets.push_back({std::move(name), values});
    });
  }
  TRIBUTARY_RETURN_IF_ERROR(file.CopyTo(targets));
  kept_ = progress;
  method_->optimiser().set_steps(kept_.optimiser_steps);
  TRIBUTARY_RETURN_IF_ERROR(method_->Restore(kept_.epoch));
  accuracy_ = kept_.accuracy;
  limits_.Restore(kept_.norms);
  fruitless_rounds_ = kept_.fruitless_rounds;
  unapplied_rounds_ = kept_.unapplied_rounds;
  resumed_ = true;
  return OkStatus();
}

StatusOr<RunOutcome> Coordinator::Run(const std::function<bool()>& should_stop, const Keeper& keeper) {
  TRIBUTARY_RETURN_IF_ERROR(MakeMethod());
  const Status gathered = GatherDevices();
  if (gathered.code() != StatusCode::kCancelled) TRIBUTARY_RETURN_IF_ERROR(gathered);
  const Goal& goal = experiment_.goal;
  if (resumed_) {
    clock_offset_ = kept_.elapsed - fleet_.clock().Now();
    Say(Note{"resumed after round " + std::to_string(kept_.round)});
  } else {
    if (sound_.on()) sound_.Keep(versions_.Lease(), 0);
    Say(RunStarted{.experiment = goal.name,
                   .seed = goal.seed,
                   .method = std::string(NameOf(kMethods, experiment_.train.method)),
                   .model = experiment_.model.name,
                   .compute_as = experiment_.model.compute_as.value_or(""),
                   .data = experiment_.data.set,
                   .devices = fleet_.devices().size(),
                   .parameters = static_cast<std::uint64_t>(TotalParameters(model_->costs)),
                   .rounds = static_cast<std::uint64_t>(goal.rounds.value_or(0))});
  }
  if (split_) {
    const SplitChoice& split = experiment_.split;
    Say(Note{fmt::format("devices have the network up to '{}'{}, the coordinator the rest", split.cut,
                         split.tail ? " and after '" + *split.tail + "'" : "")});
  }
  if (experiment_.transfers.whole_push && experiment_.transfers.strategy != TransferStrategy::kSequential) {
    Say(
        Note{"compression.scope is \"global\", which needs the whole update: "
             "updates are pushed in one segment; \"unit\" lets them overlap"});
  }
  RunOutcome result;
  TRIBUTARY_ASSIGN_OR_RETURN(result.reason, RunRounds(should_stop, keeper));
  result.rounds = kept_.round;
  if (result.reason != RunEnd::kInterrupted && unapplied_rounds_ > 0 && unapplied_rounds_ == kept_.round) {
    return Unavailable("no update was applied in any of the run's " + std::to_string(kept_.round) +
                       " rounds; events.jsonl has the outcome of each");
  }
  // Saved before the final evaluation, which may calibrate; a resumed run would not do that here.
  if (!accuracy_ && result.rounds > 0) {
    const Status status = Evaluate(RoundId{result.rounds});
    if (status.code() != StatusCode::kCancelled) TRIBUTARY_RETURN_IF_ERROR(status);
  }
  result.accuracy = accuracy_;
  Say(RunFinished{result.rounds, result.reason, result.accuracy});
  return result;
}

StatusOr<RunEnd> Coordinator::RunRounds(const std::function<bool()>& should_stop, const Keeper& keeper) {
  std::optional<RunEnd> end;
  while (!(end = Over(kept_.round))) {
    const RoundId round{kept_.round + 1};
    Status status = should_stop && should_stop() ? Cancelled("the run was stopped") : RunRound(round);
    if (status.code() == StatusCode::kCancelled) {
      end = RunEnd::kInterrupted;
      break;
    }
    TRIBUTARY_RETURN_IF_ERROR(status);
    accuracy_.reset();
    test_loss_.reset();
    const bool last = Over(round.value).has_value();
    if (last || round.value % static_cast<std::uint64_t>(experiment_.goal.evaluate_every) == 0)
      status = Evaluate(round);
    if (status.ok()) status = WatchTestLoss(round, last);
    kept_ = {.round = round.value,
             .elapsed = Now(),
             .fruitless_rounds = fruitless_rounds_,
             .unapplied_rounds = unapplied_rounds_,
             .accuracy = accuracy_,
             .optimiser_steps = method_->optimiser().steps(),
             .norms = limits_.norms()};
    if (const EpochState* epoch = method_->epoch()) kept_.epoch = *epoch;
    if (sound_.on()) sound_.Save(versions_.newest(), kept_);
    // Do not resume from a cancelled evaluation: the previous state is kept and this round is run again.
    if (status.code() == StatusCode::kCancelled) return RunEnd::kInterrupted;
    TRIBUTARY_RETURN_IF_ERROR(status);
    TRIBUTARY_RETURN_IF_ERROR(Keep(keeper, false));
  }
  TRIBUTARY_RETURN_IF_ERROR(Keep(keeper, true));
  return *end;
}

Status Coordinator::Keep(const Keeper& keeper, bool ending) {
  if (!keeper) return OkStatus();
  CoordinatorState state{kept_, {}, ending};
  ForEachArray(versions_.newest(), [&](std::string name, std::span<const float> values) {
    state.arrays.push_back({std::move(name), {static_cast<std::int64_t>(values.size())}, values});
  });
  if (kept_.has_sound) {
    const auto& [parameters, statistics] = sound_.weights();
    state.arrays.push_back({"sound.parameters", {static_cast<std::int64_t>(parameters.size())}, parameters});
    state.arrays.push_back({"sound.statistics", {static_cast<std::int64_t>(statistics.size())}, statistics});
  }
  return keeper(state);
}

Status Coordinator::RunRound(RoundId round) {
  TRIBUTARY_RETURN_IF_ERROR(GatherDevices());
  WorkOrder request = OrderOf(round, method_->Assign(round), ChooseFor(round));
  request.batches = BatchesFor(request);
  request.share = method_->SharedSamples(request);
  TRIBUTARY_RETURN_IF_ERROR(method_->PrepareRequest(
      {fleet_.devices(), weights(), *aggregate_, [&](const std::string& text) { Say(Note{text}); }},
      request));
  request.quorum = QuorumOf(request.participants.size());
  Say(RoundStarted{round, request.participants.size()});

  BeginAggregate(request);
  TRIBUTARY_ASSIGN_OR_RETURN(RoundReport report, CarryOut(request, &method_->WrapSink(limits_.sink())));
  const std::optional<double> loss = MedianLoss(report);
  const bool alike = limits_.Judge(round, report, [&](const std::string& text) { Say(Note{text}); });
  for (const DeviceReport& device : report.devices) Say(EventOf(round, device));
  const RoundFinished summary = Summarise(round, report);
  bool diverged = false;
  if (sound_.on()) {
    alarmed_ = (loss && sound_.IsHigh(*loss)) || summary.crashed + summary.refused > summary.applied;
    // Devices measure before they train.
    if (loss && !central_test_) {
      TRIBUTARY_ASSIGN_OR_RETURN(diverged, Watch(round, round.value - 1, *loss, /*last=*/false));
    }
  }
  // What was learnt from ruined weights is not applied.
  bool usable = !diverged && alike && summary.applied > 0 && summary.applied >= report.quorum;
  if (usable) {
    TRIBUTARY_ASSIGN_OR_RETURN(usable, InspectUpdates(round));
  }
  if (usable) {
    TRIBUTARY_RETURN_IF_ERROR(method_->OnRoundAccepted(report));
    aggregate_->Cover(round, TrainedPartsOf(report));
    if (!method_->devices_own_models()) TRIBUTARY_RETURN_IF_ERROR(Apply(round, RateFactorOf(report)));
    fleet_.Commit(round);
    if (sound_.on()) sound_.Note(report, limits_.sink().taken());
    fruitless_rounds_ = 0;
  } else if (!diverged) {
    ++unapplied_rounds_;
    if (++fruitless_rounds_ >= kMostFruitlessRounds) {
      return Unavailable(fmt::format("no round of the last {} had the {} usable updates it needs; device {}",
                                     fruitless_rounds_, report.quorum, FirstFailure(report)));
    }
  }
  Say(summary);
  return OkStatus();
}

void Coordinator::BeginAggregate(const WorkOrder& request) {
  std::vector<double> weights = MostWeights(request, fleet_.devices(), fleet_.Shared());
  // Batches and steps are the coordinator's choice; how long an epoch is, devices say.
  const double most = LimitOf(request.training().epochs > 0 ? experiment_.trust.largest_share : 0, weights);
  double expected = 0;
  for (const double weight : weights) expected += std::min(weight, most);
  aggregate_->Begin(std::max(1.0, expected));
  limits_.Begin(*aggregate_, most);
}

std::vector<std::size_t> Coordinator::BatchesFor(const WorkOrder& order) const {
  std::vector<std::size_t> batches;
  if (experiment_.stream.batch.rule == BatchRule::kFixed) return batches;
  for (const DeviceId device : order.participants) {
    const SamplesPerSecond rate = fleet_.StreamRate(device).value_or(SamplesPerSecond{0});
    batches.push_back(NextBatch(experiment_.stream.batch, order.training().batch, rate).samples);
  }
  LimitToMedian(experiment_.trust.largest_share, std::span(batches));
  return batches;
}

StatusOr<bool> Coordinator::InspectUpdates(RoundId round) {
  const Status inspected = aggregate_->Inspect();
  if (inspected.ok()) return true;
  if (inspected.code() != StatusCode::kUnavailable) return inspected;
  Say(Note{fmt::format("the updates of round {} are not applied: {}", round.value, inspected.message())});
  return false;
}

double Coordinator::RateFactorOf(const RoundReport& report) const {
  double samples = 0;
  double base = 0;
  for (const DeviceReport& device : report.devices) {
    if (device.outcome == Outcome::kApplied) samples += static_cast<double>(device.metrics.samples);
    base += static_cast<double>(experiment_.stream.base_batch);
  }
  return samples > 0 ? RateFactor(experiment_.stream.scaling, samples, base) : 1;
}

Status Coordinator::Apply(RoundId round, double rate_factor) {
  TRIBUTARY_RETURN_IF_ERROR(aggregate_->CheckComplete());
  method_->BeginStep(round, rate_factor);
  TRIBUTARY_ASSIGN_OR_RETURN(WeightsVersion* const next, versions_.Advance());
  const std::span<float> parameters = next->parameters.span();
  // Block by block, within the cache; the whole mean is never stored.
  std::array<float, 16384> mean;
  for (std::size_t offset = 0; offset < parameters.size(); offset += mean.size()) {
    const auto stretch = parameters.subspan(offset, std::min(mean.size(), parameters.size() - offset));
    const auto some = std::span(mean).first(stretch.size());
    TRIBUTARY_RETURN_IF_ERROR(aggregate_->Report(UpdatePart::kParameters, offset, some));
    method_->StepRange(offset, some, stretch);
  }
  return aggregate_->Report(UpdatePart::kStatistics, 0, next->statistics.span());
}

StatusOr<bool> Coordinator::Watch(RoundId round, std::uint64_t of, double loss, bool last) {
  using Verdict = DivergenceGuard::Verdict;
  const Verdict verdict = sound_.See(loss, versions_.Lease(), of);
  if (verdict == Verdict::kSound || (verdict == Verdict::kHigh && !last)) return false;
  // A single high loss, judged only because no round follows, is not held against a device like the others.
  TRIBUTARY_RETURN_IF_ERROR(RollBack(round, loss, /*outliers_only=*/verdict != Verdict::kDiverged));
  return true;
}

Status Coordinator::WatchTestLoss(RoundId round, bool last) {
  if (!sound_.on() || !central_test_) return OkStatus();
  if (!test_loss_ && alarmed_) {
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals, central_test_(weights()));
    if (totals.samples > 0) test_loss_ = totals.loss / static_cast<double>(totals.samples);
  }
  alarmed_ = false;
  if (!test_loss_) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const bool diverged, Watch(round, round.value, *test_loss_, last));
  if (diverged) accuracy_.reset();
  return OkStatus();
}

Status Coordinator::RollBack(RoundId round, double loss, bool outliers_only) {
  const std::size_t before = fleet_.quarantined();
  const std::size_t most = (with_data_.size() + before) / 2;
  const std::vector<DeviceId> culprits = sound_.Culprits(most - std::min(before, most), outliers_only);
  Say(RolledBack{
      round, RoundId{sound_.round()},
      fmt::format("the loss is {:.4g} in round {}: the run diverges (trust.divergence = {}) and returns to "
                  "its weights after round {}{}",
                  loss, round.value, experiment_.trust.divergence, sound_.round(),
                  culprits.empty() && !outliers_only
                      ? "; half of the devices are in quarantine or no update is to blame, so "
                        "the learning rate may be too high"
                      : "")});
  for (const DeviceId device : culprits) {
    Say(Quarantined{
        round, device,
        fmt::format("device {} is in quarantine: of the updates since round {}, its was by far the "
                    "largest; an operator can admit it again",
                    device.value, sound_.round())});
  }
  TRIBUTARY_ASSIGN_OR_RETURN(WeightsVersion* const next, versions_.Advance());
  std::ranges::copy(sound_.weights().parameters, next->parameters.data());
  std::ranges::copy(sound_.weights().statistics, next->statistics.data());
  for (const Optimiser::StateArray& array : method_->optimiser().State())
    std::ranges::fill(array.values, 0.0F);
  method_->optimiser().set_steps(0);
  sound_.Keep(versions_.Lease(), sound_.round());
  sound_.RolledBack();
  fleet_.RollBack(culprits);
  return method_->Remove(culprits);
}

Status Coordinator::CollectMean(RoundId round) {
  aggregate_->Begin(static_cast<double>(with_data_.size()));
  TRIBUTARY_ASSIGN_OR_RETURN(const RoundReport report,
                             CarryOut(OrderOf(round, CollectAssignment{}, with_data_), aggregate_.get()));
  if (report.applied() > 0) return Apply(round, 1);
  Say(Note{"no device sent its model after round " + std::to_string(round.value) +
           "; the mean is unchanged"});
  return OkStatus();
}

Status Coordinator::Evaluate(RoundId round) {
  if (method_->devices_own_models()) TRIBUTARY_RETURN_IF_ERROR(CollectMean(round));
  if (experiment_.train.calibrate > 0 && !statistics().empty()) {
    const CalibrateAssignment assignment{.round = round,
                                         .steps = static_cast<int>(experiment_.train.calibrate),
                                         .batch = static_cast<std::size_t>(experiment_.train.batch),
                                         .seed = experiment_.goal.seed};
    TRIBUTARY_ASSIGN_OR_RETURN(const RoundReport report, CarryOut(OrderOf(round, assignment, with_data_)));
    TRIBUTARY_ASSIGN_OR_RETURN(WeightsVersion* const next, versions_.Advance());
    EstimateStatistics(*model_, report.moments, next->statistics.span());
  }
  if (experiment_.data.hold_out > 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(const RoundReport report,
                               CarryOut(OrderOf(round, EvaluateAssignment{}, with_data_)));
    Record(round, EvaluatedWhere::kDevices, report.totals);
  }
  // The result on the test set takes precedence.
  if (central_test_) {
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals, central_test_(weights()));
    if (totals.samples > 0) test_loss_ = totals.loss / static_cast<double>(totals.samples);
    Record(round, EvaluatedWhere::kCentral, totals);
  }
  return OkStatus();
}

void Coordinator::Record(RoundId round, EvaluatedWhere where, const EvaluationTotals& totals) {
  if (totals.samples == 0) return;
  const auto samples = static_cast<double>(totals.samples);
  accuracy_ = static_cast<double>(totals.correct) / samples;
  Say(Evaluated{round, where, *accuracy_, totals.loss / samples, static_cast<std::uint64_t>(totals.samples)});
}

}  // namespace tributary::inline coordinator
