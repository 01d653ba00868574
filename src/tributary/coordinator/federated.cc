#include "tributary/coordinator/round_method.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/policy/optimisation/server_optimiser.h"

namespace tributary {
namespace {

class Federated : public RoundMethod {
 public:
  Federated(const Experiment& experiment, std::unique_ptr<Optimiser> server, Schedule schedule)
      : experiment_(experiment), server_(std::move(server)), schedule_(std::move(schedule)) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(experiment_, round);
    assignment.answer = TrainAssignment::Answer::kChange;
    assignment.steps = static_cast<int>(experiment_.train.local_steps.value_or(1));
    assignment.epochs = static_cast<int>(experiment_.train.local_epochs.value_or(0));
    assignment.optimiser = experiment_.train.optimiser;
    assignment.learning_rate = schedule_.LearningRate(round.value - 1, rounds());
    assignment.prox = experiment_.train.prox;
    return assignment;
  }

  void BeginStep(RoundId, double rate_factor) override {
    server_->BeginStep(rate_factor * experiment_.train.server_optimiser.learning_rate);
  }

  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    // To an optimiser, the way devices went is the way against the gradient.
    for (float& change : mean) change = -change;
    server_->StepRange(offset, parameters, mean);
  }

  Optimiser& optimiser() override { return *server_; }

 private:
  std::uint64_t rounds() const { return static_cast<std::uint64_t>(experiment_.goal.rounds.value_or(0)); }

  const Experiment experiment_;
  const std::unique_ptr<Optimiser> server_;
  const Schedule schedule_;
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

}  // namespace tributary
