#include "tributary/coordinator/coordinator.h"

#include <algorithm>

#include "tributary/coordinator/calibration.h"
#include "tributary/coordinator/round_summary.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/model/initialise.h"
#include "tributary/policy/participation/participation.h"

namespace tributary {
namespace {

constexpr std::uint64_t kMostFruitlessRounds = 100;

}  // namespace

Coordinator::Coordinator(const Experiment& experiment, std::shared_ptr<const Model> model, Fleet& fleet,
                         EventSink& events, CentralTest central_test)
    : experiment_(experiment),
      model_(std::move(model)),
      fleet_(fleet),
      events_(events),
      central_test_(std::move(central_test)),
      parameters_(model_->parameters.size),
      statistics_(model_->statistics.size),
      mean_parameters_(model_->parameters.size),
      mean_statistics_(model_->statistics.size),
      aggregate_(*model_) {
  for (const DeviceProfile& device : fleet_.devices()) {
    if (device.samples > 0) with_data_.push_back(device.id);
  }
  InitialiseWeights(*model_, experiment_.goal.seed, parameters_.span(), statistics_.span());
}

std::optional<RunEnd> Coordinator::Over(std::uint64_t rounds_done) const {
  const Goal& goal = experiment_.goal;
  if (goal.target_accuracy && accuracy_ && *accuracy_ >= *goal.target_accuracy) return RunEnd::kTarget;
  if (goal.rounds && rounds_done >= static_cast<std::uint64_t>(*goal.rounds)) return RunEnd::kRounds;
  if (goal.time_budget && fleet_.clock().Now() >= *goal.time_budget) return RunEnd::kTime;
  return std::nullopt;
}

StatusOr<RunOutcome> Coordinator::Run(const std::function<bool()>& should_stop) {
  if (with_data_.empty()) return InvalidArgument("no device has training samples");
  TRIBUTARY_ASSIGN_OR_RETURN(method_, MakeRoundMethod(experiment_, parameters_.size()));
  const Goal& goal = experiment_.goal;
  Say(RunStarted{.experiment = goal.name,
                 .seed = goal.seed,
                 .method = std::string(NameOf(kMethods, experiment_.train.method)),
                 .model = experiment_.model.name,
                 .compute_as = experiment_.model.compute_as.value_or(""),
                 .data = experiment_.data.set,
                 .devices = fleet_.devices().size(),
                 .parameters = static_cast<std::uint64_t>(TotalParameters(model_->costs)),
                 .rounds = static_cast<std::uint64_t>(goal.rounds.value_or(0))});
  RunOutcome result;
  std::optional<RunEnd> end;
  while (!(end = Over(result.rounds))) {
    if (should_stop && should_stop()) {
      end = RunEnd::kInterrupted;
      break;
    }
    const RoundId round{result.rounds + 1};
    TRIBUTARY_RETURN_IF_ERROR(RunRound(round));
    ++result.rounds;
    accuracy_.reset();
    const bool last = Over(result.rounds).has_value();
    if (last || round.value % static_cast<std::uint64_t>(goal.evaluate_every) == 0) {
      TRIBUTARY_RETURN_IF_ERROR(Evaluate(round));
    }
  }
  if (!accuracy_ && result.rounds > 0) TRIBUTARY_RETURN_IF_ERROR(Evaluate(RoundId{result.rounds}));
  result.reason = *end;
  result.accuracy = accuracy_;
  Say(RunFinished{result.rounds, result.reason, result.accuracy});
  return result;
}

Status Coordinator::RunRound(RoundId round) {
  const auto devices = static_cast<std::int64_t>(with_data_.size());
  RoundRequest request;
  request.round = round;
  request.assignment = method_->Assign(round);
  request.participants =
      ChooseParticipants(with_data_, static_cast<std::size_t>(experiment_.fleet.participation.Of(devices)),
                         experiment_.goal.seed, round);
  request.weights = weights();
  request.deadline = experiment_.fleet.deadline;
  const auto asked = static_cast<std::int64_t>(request.participants.size());
  request.quorum = static_cast<std::size_t>(experiment_.fleet.quorum.Of(asked));
  Say(RoundStarted{round, request.participants.size()});

  aggregate_.Begin(ExpectedWeight(request, fleet_.devices()));
  TRIBUTARY_ASSIGN_OR_RETURN(const RoundReport report, fleet_.Train(request, aggregate_));
  for (const DeviceReport& device : report.devices) Say(EventOf(round, device));
  const RoundFinished summary = Summarise(round, report);
  if (summary.applied > 0 && summary.applied >= request.quorum) {
    TRIBUTARY_RETURN_IF_ERROR(aggregate_.Mean(mean_parameters_.span(), mean_statistics_.span()));
    method_->Apply(round, mean_parameters_.span(), parameters_.span());
    std::ranges::copy(mean_statistics_.span(), statistics_.data());
    fruitless_rounds_ = 0;
  } else if (++fruitless_rounds_ >= kMostFruitlessRounds) {
    return Unavailable("no round of the last " + std::to_string(fruitless_rounds_) + " had the " +
                       std::to_string(request.quorum) + " usable updates it needs; device " +
                       FirstFailure(report));
  }
  Say(summary);
  return OkStatus();
}

Status Coordinator::Evaluate(RoundId round) {
  if (experiment_.train.calibrate > 0 && statistics_.size() > 0) {
    const CalibrateAssignment assignment{.round = round,
                                         .steps = static_cast<int>(experiment_.train.calibrate),
                                         .batch = static_cast<std::size_t>(experiment_.train.batch),
                                         .seed = experiment_.goal.seed};
    TRIBUTARY_ASSIGN_OR_RETURN(const Moments moments, fleet_.Calibrate(assignment, weights(), with_data_));
    EstimateStatistics(*model_, moments, statistics_.span());
  }
  if (experiment_.data.hold_out > 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals, fleet_.Evaluate({}, weights(), with_data_));
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
