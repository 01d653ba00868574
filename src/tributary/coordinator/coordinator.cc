#include "tributary/coordinator/coordinator.h"

#include <algorithm>
#include <array>

#include "tributary/coordinator/round_summary.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/fleet/calibration.h"
#include "tributary/model/initialise.h"
#include "tributary/policy/participation/participation.h"

namespace tributary {
namespace {

constexpr std::uint64_t kMostFruitlessRounds = 100;

}  // namespace

Coordinator::Coordinator(const Experiment& experiment, std::shared_ptr<const Model> model, Fleet& fleet,
                         EventSink& events, CentralTest central_test, std::optional<SplitSetup> split)
    : experiment_(experiment),
      model_(std::move(model)),
      fleet_(fleet),
      events_(events),
      central_test_(std::move(central_test)),
      split_(std::move(split)),
      parameters_(model_->parameters.size),
      statistics_(model_->statistics.size),
      aggregate_(*model_) {
  InitialiseWeights(*model_, experiment_.goal.seed, parameters_.span(), statistics_.span());
}

void Coordinator::StartAt(const SharedWeights& weights) {
  TRIBUTARY_CHECK(weights.parameters.size() == parameters_.size() &&
                  weights.statistics.size() == statistics_.size());
  std::ranges::copy(weights.parameters, parameters_.span().begin());
  std::ranges::copy(weights.statistics, statistics_.span().begin());
}

std::optional<RunEnd> Coordinator::Over(std::uint64_t rounds_done) const {
  const Goal& goal = experiment_.goal;
  if (goal.target_accuracy && accuracy_ && *accuracy_ >= *goal.target_accuracy) return RunEnd::kTarget;
  if (goal.rounds && rounds_done >= static_cast<std::uint64_t>(*goal.rounds)) return RunEnd::kRounds;
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
  // Whoever meets others must be there; elsewhere one that is not may come back in time.
  if (wanted >= with_data_.size() && !method_->Collects()) return with_data_;
  // Where only some are asked, they are some of those that can be.
  std::vector<DeviceId> present;
  std::ranges::copy_if(with_data_, std::back_inserter(present),
                       [&](DeviceId device) { return fleet_.Present(device); });
  if (wanted >= present.size()) return present;
  return ChooseParticipants(present, wanted, experiment_.goal.seed, round);
}

Inquiry Coordinator::InquiryOf(RoundId round, std::vector<DeviceId> participants) const {
  Inquiry inquiry{.round = round, .participants = std::move(participants), .weights = weights()};
  inquiry.deadline = experiment_.fleet.deadline;
  inquiry.quorum = QuorumOf(inquiry.participants.size());
  return inquiry;
}

std::size_t Coordinator::QuorumOf(std::size_t asked) const {
  return static_cast<std::size_t>(experiment_.fleet.quorum.Of(static_cast<std::int64_t>(asked)));
}

Status Coordinator::MakeMethod() {
  if (method_ != nullptr) return OkStatus();
  const std::size_t size = parameters_.size();
  if (CountsTrained(experiment_.dropout)) {
    TRIBUTARY_ASSIGN_OR_RETURN(covered_, CoveredMean::Make(experiment_, *model_));
  }
  switch (experiment_.train.method) {
    case Method::kSyncSgd: {
      TRIBUTARY_ASSIGN_OR_RETURN(method_, MakeSyncSgd(experiment_, size));
      break;
    }
    case Method::kFederated: {
      TRIBUTARY_ASSIGN_OR_RETURN(method_, MakeFederated(experiment_, size));
      break;
    }
    case Method::kGossip: {
      TRIBUTARY_ASSIGN_OR_RETURN(method_, MakeGossip(experiment_, size));
      break;
    }
    case Method::kSplit: {
      TRIBUTARY_CHECK(split_.has_value());
      const auto make = experiment_.split.averages() ? MakeSplitFed : MakeSplitMethod;
      TRIBUTARY_ASSIGN_OR_RETURN(method_, make(experiment_, size, *split_));
      break;
    }
  }
  return OkStatus();
}

std::vector<CheckpointFile::Target> Coordinator::Arrays() {
  std::vector<CheckpointFile::Target> arrays = {{"parameters", parameters_.span()},
                                                {"statistics", statistics_.span()}};
  for (const Optimiser::StateArray& array : method_->optimiser().State()) {
    arrays.push_back({"optimiser." + std::string(array.name), array.values});
  }
  return arrays;
}

Status Coordinator::Restore(const CheckpointFile& file) {
  TRIBUTARY_RETURN_IF_ERROR(MakeMethod());
  TRIBUTARY_RETURN_IF_ERROR(file.CopyTo(Arrays()));
  kept_ = file.checkpoint().progress;
  method_->optimiser().set_steps(kept_.optimiser_steps);
  TRIBUTARY_RETURN_IF_ERROR(method_->Restore(kept_.epoch));
  accuracy_ = kept_.accuracy;
  fruitless_rounds_ = kept_.fruitless_rounds;
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
    Say(Note{"devices have the network up to '" + split.cut + "'" +
             (split.tail ? " and after '" + *split.tail + "'" : "") + ", the coordinator the rest"});
  }
  if (experiment_.transfers.whole_push && experiment_.transfers.strategy != TransferStrategy::kSequential) {
    Say(
        Note{"compression.scope is \"global\": the largest of all is known only when all is there, so "
             "updates are pushed"
             " in one segment; \"unit\" lets them overlap"});
  }
  RunOutcome result;
  TRIBUTARY_ASSIGN_OR_RETURN(result.reason, RunRounds(should_stop, keeper));
  result.rounds = kept_.round;
  // Kept before it is evaluated once more: that may calibrate, which a run that goes on does not do here.
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
    const bool last = Over(round.value).has_value();
    if (last || round.value % static_cast<std::uint64_t>(experiment_.goal.evaluate_every) == 0)
      status = Evaluate(round);
    kept_ = {round.value, Now(), fruitless_rounds_, accuracy_, method_->optimiser().steps(), {}};
    if (const EpochState* epoch = method_->epoch()) kept_.epoch = *epoch;
    // Half evaluated is not a state to go on from: what was kept before stands, and this round will be done again.
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
  for (const CheckpointFile::Target& array : Arrays()) {
    state.arrays.push_back({array.name, {static_cast<std::int64_t>(array.values.size())}, array.values});
  }
  return keeper(state);
}

Status Coordinator::RunRound(RoundId round) {
  TRIBUTARY_RETURN_IF_ERROR(GatherDevices());
  RoundRequest request{InquiryOf(round, ChooseFor(round)), method_->Assign(round), {}, {}};
  request.batches = BatchesFor(request);
  request.share = method_->Share(request);
  TRIBUTARY_RETURN_IF_ERROR(method_->Shape({fleet_.devices(), weights(), aggregate_}, request));
  request.quorum = QuorumOf(request.participants.size());
  Say(RoundStarted{round, request.participants.size()});

  aggregate_.Begin(ExpectedWeight(request, fleet_.devices(), fleet_.Shared()));
  TRIBUTARY_ASSIGN_OR_RETURN(const RoundReport report, fleet_.Train(request, method_->Through(aggregate_)));
  for (const DeviceReport& device : report.devices) Say(EventOf(round, device));
  const RoundFinished summary = Summarise(round, report);
  if (summary.applied > 0 && summary.applied >= request.quorum) {
    TRIBUTARY_RETURN_IF_ERROR(method_->Conclude(report));
    if (covered_) covered_->Begin(round, report);
    if (!method_->Collects()) TRIBUTARY_RETURN_IF_ERROR(Apply(round, RateFactorOf(report)));
    fleet_.Counted(round);
    fruitless_rounds_ = 0;
  } else if (++fruitless_rounds_ >= kMostFruitlessRounds) {
    return Unavailable("no round of the last " + std::to_string(fruitless_rounds_) + " had the " +
                       std::to_string(request.quorum) + " usable updates it needs; device " +
                       FirstFailure(report));
  }
  Say(summary);
  return OkStatus();
}

std::vector<std::size_t> Coordinator::BatchesFor(const RoundRequest& request) const {
  std::vector<std::size_t> batches;
  if (experiment_.stream.batch.rule == BatchRule::kFixed) return batches;
  for (const DeviceId device : request.participants) {
    const SamplesPerSecond rate = fleet_.StreamRate(device).value_or(SamplesPerSecond{0});
    batches.push_back(NextBatch(experiment_.stream.batch, request.assignment.batch, rate).samples);
  }
  return batches;
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
  TRIBUTARY_RETURN_IF_ERROR(aggregate_.CheckComplete());
  method_->BeginStep(round, rate_factor);
  // A stretch at a time, while it is in the cache: the mean of the whole is never held.
  std::array<float, 16384> mean;
  for (std::size_t offset = 0; offset < parameters_.size(); offset += mean.size()) {
    const auto stretch =
        parameters_.span().subspan(offset, std::min(mean.size(), parameters_.size() - offset));
    const auto some = std::span(mean).first(stretch.size());
    TRIBUTARY_RETURN_IF_ERROR(aggregate_.Mean(UpdatePart::kParameters, offset, some));
    if (covered_) covered_->Apply(offset, some);
    method_->StepRange(offset, some, stretch);
  }
  return aggregate_.Mean(UpdatePart::kStatistics, 0, statistics_.span());
}

Status Coordinator::CollectMean(RoundId round) {
  aggregate_.Begin(static_cast<double>(with_data_.size()));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::size_t collected,
                             fleet_.Collect(InquiryOf(round, with_data_), aggregate_));
  if (collected > 0) return Apply(round, 1);
  Say(Note{"no device's model could be had after round " + std::to_string(round.value) +
           "; the mean is still the one before"});
  return OkStatus();
}

Status Coordinator::Evaluate(RoundId round) {
  if (method_->Collects()) TRIBUTARY_RETURN_IF_ERROR(CollectMean(round));
  if (experiment_.train.calibrate > 0 && statistics_.size() > 0) {
    const CalibrateAssignment assignment{.round = round,
                                         .steps = static_cast<int>(experiment_.train.calibrate),
                                         .batch = static_cast<std::size_t>(experiment_.train.batch),
                                         .seed = experiment_.goal.seed};
    TRIBUTARY_ASSIGN_OR_RETURN(const Moments moments,
                               fleet_.Calibrate(assignment, InquiryOf(round, with_data_)));
    EstimateStatistics(*model_, moments, statistics_.span());
  }
  if (experiment_.data.hold_out > 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals,
                               fleet_.Evaluate({}, InquiryOf(round, with_data_)));
    Record(round, EvaluatedWhere::kDevices, totals);
  }
  // Where there is a test set, its word counts.
  if (central_test_) {
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals, central_test_(weights()));
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

}  // namespace tributary
