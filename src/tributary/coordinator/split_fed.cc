#include "tributary/coordinator/split.h"

namespace tributary {
namespace {

// To the fronts, a round is one of `federated`; the coordinator's part sees to itself.
class SplitFed : public RoundMethod {
 public:
  SplitFed(std::unique_ptr<RoundMethod> federated, SplitSetup setup)
      : federated_(std::move(federated)),
        setup_(std::move(setup)),
        sink_(setup_.parameters, setup_.statistics) {}

  TrainAssignment Assign(RoundId round) const override { return federated_->Assign(round); }

  Status Shape(const RoundScene& scene, RoundRequest& request) override {
    request.weights = {scene.weights.parameters.first(setup_.parameters.front),
                       scene.weights.statistics.first(setup_.statistics.front)};
    request.server = setup_.half;
    setup_.half->Begin(request, scene);
    return OkStatus();
  }

  UpdateSink& Through(UpdateSink& whole) override {
    sink_.set_whole(whole);
    return sink_;
  }

  Status Conclude(const RoundReport& report) override { return setup_.half->Conclude(report); }

  void BeginStep(RoundId round, double rate_factor) override { federated_->BeginStep(round, rate_factor); }
  void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) override {
    federated_->StepRange(offset, mean, parameters);
  }
  Optimiser& optimiser() override { return federated_->optimiser(); }

 private:
  const std::unique_ptr<RoundMethod> federated_;
  const SplitSetup setup_;
  HeldSink sink_;
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeSplitFed(const Experiment& experiment, std::size_t parameters,
                                                    SplitSetup setup) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto federated, MakeFederated(experiment, parameters));
  return std::unique_ptr<RoundMethod>(std::make_unique<SplitFed>(std::move(federated), std::move(setup)));
}

}  // namespace tributary
