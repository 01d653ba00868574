#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/round_aggregate.h"
#include "tributary/coordinator/round_method.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/fleet.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

struct RunOutcome {
  std::uint64_t rounds = 0;
  RunEnd reason = RunEnd::kRounds;
  std::optional<double> accuracy;  // of the final weights
};

// Runs an experiment over a fleet, real or simulated: round after round it chooses who takes part, has them work,
// applies the exact mean of what came back, evaluates, and says what happened. The decisions are policies' and the
// method's; this is their wiring, and the one loop of every run.
class Coordinator {
 public:
  // Measures the weights on a test set of the coordinator's. May be empty: then only devices evaluate, on what they
  // hold out.
  using CentralTest = std::function<StatusOr<EvaluationTotals>(const SharedWeights&)>;

  // Everything but the experiment must outlive it. Weights start at the seed's initial values.
  Coordinator(const Experiment& experiment, std::shared_ptr<const Model> model, Fleet& fleet, EventSink& events,
              CentralTest central_test);

  // Until the experiment's rounds, time or target are reached, or `should_stop` says so between two rounds. Fails if the
  // fleet fails, or if round after round nobody's update can be used.
  StatusOr<RunOutcome> Run(const std::function<bool()>& should_stop = {});

  std::span<const float> parameters() const { return parameters_.span(); }
  std::span<const float> statistics() const { return statistics_.span(); }

 private:
  Status RunRound(RoundId round);
  Status Evaluate(RoundId round);
  void Record(RoundId round, EvaluatedWhere where, const EvaluationTotals& totals);
  std::optional<RunEnd> Over(std::uint64_t rounds_done) const;
  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }
  void Say(decltype(Event::what) what) { events_.Write({fleet_.clock().Now(), std::move(what)}); }

  const Experiment experiment_;
  const std::shared_ptr<const Model> model_;
  Fleet& fleet_;
  EventSink& events_;
  const CentralTest central_test_;
  std::vector<DeviceId> with_data_;
  FlatBuffer parameters_, statistics_;
  FlatBuffer mean_parameters_, mean_statistics_;
  RoundAggregate aggregate_;
  std::unique_ptr<RoundMethod> method_;
  std::optional<double> accuracy_;
  std::uint64_t fruitless_rounds_ = 0;
};

}  // namespace tributary
