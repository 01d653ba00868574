#include "tributary/coordinator/round_method.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline coordinator {
namespace {

class Federated : public ScheduledMethod {
 public:
  using ScheduledMethod::ScheduledMethod;

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = LocalAssignment(round);
    assignment.answer = TrainAssignment::Answer::kChange;
    assignment.prox = experiment_.train.prox;
    return assignment;
  }

  void BeginStep(RoundId, double rate_factor) override {
    optimiser().BeginStep(rate_factor * experiment_.train.server_optimiser.learning_rate);
  }

  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    // To an optimiser, the way devices went is the way against the gradient.
    for (float& change : mean) change = -change;
    ScheduledMethod::StepRange(offset, mean, parameters);
  }
};

ServerOptimiserOptions OptionsOf(const ServerOptimiser& server) {
  return {.name = std::string(NameOf(kServerOptimisers, server.kind)),
          .momentum = server.momentum,
          .beta1 = server.beta1,
          .beta2 = server.beta2,
          .tau = server.tau};
}

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeFederated(const Experiment& experiment, std::size_t parameters) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto server,
                             MakeServerOptimiser(OptionsOf(experiment.train.server_optimiser), parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<Federated>(experiment, std::move(server), std::move(schedule)));
}

}  // namespace tributary::inline coordinator
