#include "tributary/explore/thin_training.h"

#include <algorithm>

#include "tributary/policy/dropout/choose_atoms.h"

namespace tributary {

ThinTraining::ThinTraining(std::shared_ptr<const Model> model, const ExploreOptions& options)
    : model_(std::move(model)), options_(options), weights_(*model_) {}

void ThinTraining::Begin(const Snapshot& from, std::span<const std::int64_t> kept) {
  std::ranges::copy(from.parameters.span(), weights_.parameters.span().begin());
  std::ranges::copy(from.statistics.span(), weights_.statistics.span().begin());
  kept_.assign(kept.begin(), kept.end());
  thin_ = std::make_unique<ThinNetwork>(model_, FirstAtoms(model_->channels, kept_),
                                        options_.scale_filters ? FilterScaling::kInverse : FilterScaling::kNone);
  OptimiserOptions how;
  how.momentum = options_.momentum;
  optimiser_ = MakeOptimiser(how, thin_->parameters().size()).value();
  const std::size_t arrays = optimiser_->State().size();
  optimiser_state_.resize(arrays);
  for (FlatBuffer& array : optimiser_state_) {
    if (array.size() == 0) array = FlatBuffer(model_->parameters.size);
    std::ranges::fill(array.span(), 0.0F);
  }
}

StatusOr<double> ThinTraining::Step(const BatchView& batch, Rng& chance) {
  thin_->Keep(RandomAtoms(model_->channels, kept_, chance));
  for (std::size_t unit = 0; unit < model_->units.size(); ++unit) {
    thin_->Gather(unit, weights_.parameters.span(), weights_.statistics.span());
  }
  PassOptions pass;
  pass.rng = &chance;
  TRIBUTARY_ASSIGN_OR_RETURN(const PassResult result, thin_->executor().Train(batch, pass));
  for (std::size_t unit = 0; unit < model_->units.size(); ++unit) thin_->Uncompensate(unit);

  using Part = ThinMap::Part;
  const std::vector<Optimiser::StateArray> state = optimiser_->State();
  for (std::size_t i = 0; i < state.size(); ++i) {
    thin_->map().GatherAll(Part::kParameters, optimiser_state_[i].span(), state[i].values);
  }
  optimiser_->Step(thin_->parameters(), thin_->gradients(), options_.learning_rate);
  for (std::size_t i = 0; i < state.size(); ++i) {
    thin_->map().ScatterAll(Part::kParameters, state[i].values, optimiser_state_[i].span());
  }
  thin_->map().ScatterAll(Part::kParameters, thin_->parameters(), weights_.parameters.span());
  return result.loss;
}

}  // namespace tributary
