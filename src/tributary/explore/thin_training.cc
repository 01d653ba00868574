#include "tributary/explore/thin_training.h"

#include <algorithm>

#include "tributary/policy/dropout/choose_atoms.h"

namespace tributary {

ThinTraining::ThinTraining(std::shared_ptr<const Model> model, const ExploreOptions& options)
    : model_(std::move(model)), options_(options), weights_(*model_) {}

void ThinTraining::Begin(const Snapshot& from) {
  std::ranges::copy(from.parameters.span(), weights_.parameters.span().begin());
  std::ranges::copy(from.statistics.span(), weights_.statistics.span().begin());
  for (FlatBuffer& array : optimiser_state_) std::ranges::fill(array.span(), 0.0F);
}

void ThinTraining::Keep(std::span<const std::int64_t> kept) {
  if (std::ranges::equal(kept_, kept)) return;
  kept_.assign(kept.begin(), kept.end());
  thin_ =
      std::make_unique<ThinNetwork>(model_, FirstAtoms(model_->channels, kept_),
                                    options_.scale_filters ? FilterScaling::kInverse : FilterScaling::kNone);
  OptimiserOptions how;
  how.momentum = options_.momentum;
  optimiser_ = MakeOptimiser(how, thin_->parameters().size()).value();
  while (optimiser_state_.size() < optimiser_->State().size())
    optimiser_state_.emplace_back(model_->parameters.size);
}

StatusOr<double> ThinTraining::Step(const BatchView& batch, Rng& chance) {
  if (options_.channels == ChannelChoice::kRandom) thin_->Keep(RandomAtoms(model_->channels, kept_, chance));
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

std::vector<double> RatesAroundALevel(std::size_t groups, double highest, Rng& rng) {
  const double level = highest * rng.Uniform();
  std::vector<double> rates;
  for (std::size_t i = 0; i < groups; ++i) {
    rates.push_back(std::clamp(level + 0.4 * (rng.Uniform() - 0.5), 0.0, kHighestRate));
  }
  return rates;
}

}  // namespace tributary
