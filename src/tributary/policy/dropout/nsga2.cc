#include "tributary/policy/dropout/nsga2.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tributary/base/distributions.h"
#include "tributary/policy/dropout/non_dominated_sort.h"
#include "tributary/policy/dropout/nsga2_checks.h"

namespace tributary {
namespace {

std::vector<Objectives> ObjectivesOf(std::span<const Individual> individuals) {
  std::vector<Objectives> all;
  for (const Individual& individual : individuals) all.push_back(individual.objectives);
  return all;
}

// The best by front, and of the front that does not fit whole those with most room; the older where that is equal.
std::vector<Individual> Survivors(std::vector<Individual> all, std::size_t count) {
  if (all.size() <= count) return all;
  const std::vector<Objectives> objectives = ObjectivesOf(all);
  std::vector<Individual> survivors;
  for (const std::vector<std::size_t>& front : NonDominatedSort(objectives)) {
    const std::size_t room = count - survivors.size();
    std::vector<std::size_t> order(front.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (front.size() > room) {
      const std::vector<double> distances = CrowdingDistances(objectives, front);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
      order.resize(room);
    }
    for (const std::size_t member : order) survivors.push_back(std::move(all[front[member]]));
    if (survivors.size() == count) break;
  }
  return survivors;
}

// Binary tournaments. Candidates come from a shuffled deck: all take part equally often, but for one time.
class Tournaments {
 public:
  Tournaments(Rng& rng, std::span<const Individual> population)
      : rng_(rng), ranks_(population.size()), distances_(population.size()) {
    const std::vector<Objectives> objectives = ObjectivesOf(population);
    const auto fronts = NonDominatedSort(objectives);
    for (std::size_t rank = 0; rank < fronts.size(); ++rank) {
      const std::vector<double> distances = CrowdingDistances(objectives, fronts[rank]);
      for (std::size_t i = 0; i < distances.size(); ++i) {
        ranks_[fronts[rank][i]] = rank;
        distances_[fronts[rank][i]] = distances[i];
      }
    }
  }

  std::size_t Winner() {
    const std::size_t a = Draw();
    const std::size_t b = Draw();
    if (ranks_[a] != ranks_[b]) return ranks_[a] < ranks_[b] ? a : b;
    return distances_[b] > distances_[a] ? b : a;
  }

 private:
  std::size_t Draw() {
    if (deck_.empty()) {
      deck_.resize(ranks_.size());
      std::iota(deck_.begin(), deck_.end(), std::size_t{0});
      Shuffle(rng_, std::span(deck_));
    }
    const std::size_t drawn = deck_.back();
    deck_.pop_back();
    return drawn;
  }

  Rng& rng_;
  std::vector<std::size_t> ranks_;
  std::vector<double> distances_;
  std::vector<std::size_t> deck_;
};

// Every generation has a stream of its own, so that nothing about chance need be saved.
Rng StreamOf(const Nsga2Options& options, std::uint64_t generation) {
  return Rng::ForStream(options.seed, DeviceId{}, "nsga2", generation);
}

}  // namespace

StatusOr<Nsga2> Nsga2::Start(const Nsga2Options& options, std::vector<VariableBounds> bounds,
                             std::vector<Genome> given) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSearch(options, bounds));
  TRIBUTARY_RETURN_IF_ERROR(CheckGiven(options, bounds, given));
  Nsga2 search(options, std::move(bounds));
  search.AskFirst(std::move(given));
  return search;
}

StatusOr<Nsga2> Nsga2::Resume(const Nsga2Options& options, std::vector<VariableBounds> bounds,
                              Nsga2State state) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSearch(options, bounds));
  TRIBUTARY_RETURN_IF_ERROR(CheckState(options, bounds, state));
  Nsga2 search(options, std::move(bounds));
  search.state_ = std::move(state);
  search.AskOffspring();
  return search;
}

Status Nsga2::Tell(std::span<const Objectives> objectives) {
  TRIBUTARY_RETURN_IF_ERROR(CheckTold(state_, asked_.size(), objectives));
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (!objectives[i].empty()) state_.population.push_back({std::move(asked_[i]), objectives[i]});
  }
  state_.population = Survivors(std::move(state_.population), options_.population);
  ++state_.generation;
  AskOffspring();
  return OkStatus();
}

std::vector<Individual> Nsga2::Front() const {
  std::vector<Individual> front;
  for (const std::size_t i : NonDominated(ObjectivesOf(state_.population)))
    front.push_back(state_.population[i]);
  return front;
}

void Nsga2::AskFirst(std::vector<Genome> given) {
  Rng rng = StreamOf(options_, 0);
  asked_ = std::move(given);
  while (asked_.size() < options_.population) {
    Genome genome;
    for (const auto& [low, high] : bounds_) genome.push_back(std::min(Uniform(rng, low, high), high));
    asked_.push_back(std::move(genome));
  }
}

void Nsga2::AskOffspring() {
  Rng rng = StreamOf(options_, state_.generation);
  const std::size_t count = options_.offspring > 0 ? options_.offspring : options_.population;
  const double mutation = options_.mutation > 0 ? options_.mutation : 1 / static_cast<double>(bounds_.size());
  Tournaments tournaments(rng, state_.population);
  asked_.clear();
  while (asked_.size() < count) {
    Genome first = state_.population[tournaments.Winner()].genome;
    Genome second = state_.population[tournaments.Winner()].genome;
    if (rng.Uniform() < options_.crossover) {
      SimulatedBinaryCrossover(rng, bounds_, options_.crossover_eta, first, second);
    }
    for (Genome* child : {&first, &second}) {
      PolynomialMutation(rng, bounds_, options_.mutation_eta, mutation, *child);
      if (asked_.size() < count) asked_.push_back(std::move(*child));
    }
  }
}

}  // namespace tributary
