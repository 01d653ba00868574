#include "tributary/policy/dropout/nsga2.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/base/number_text.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline policy {
namespace {

constexpr double kCrossed = 0.5;      // fraction of the variables
constexpr double kSameValue = 1e-14;  // parents closer than this are not crossed

// Requires base ≥ 0, and exponent > 0 or base > 0.
double RealPower(double base, double exponent) {
  return base > 0 ? PortableExp(exponent * PortableLog(base)) : 0.0;
}

// The children's distance relative to the parents', on the side with `room` beyond its parent; `u` in [0, 1).
double SpreadFactor(double u, double room, double distance, double eta) {
  const double alpha = 2 - RealPower(1 + 2 * room / distance, -(eta + 1));
  const double exponent = 1 / (eta + 1);
  return u * alpha <= 1 ? RealPower(u * alpha, exponent) : RealPower(1 / (2 - u * alpha), exponent);
}

std::vector<Objectives> ObjectivesOf(std::span<const Individual> individuals) {
  std::vector<Objectives> all;
  for (const Individual& individual : individuals) all.push_back(individual.objectives);
  return all;
}

// The best `count` by front; of the last front, the least crowded; the older on ties.
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

// Binary tournaments. Candidates come from a shuffled deck, so all participate about equally often.
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

// One random stream per generation, so that no generator state need be saved.
Rng StreamOf(const Nsga2Options& options, std::uint64_t generation) {
  return Rng::ForStream(options.seed, DeviceId{}, "nsga2", generation);
}

// Validation of external input: options, saved state, measured values.

constexpr std::size_t kMostIndividuals = 100'000;
constexpr std::size_t kMostVariables = 1'000'000;
constexpr double kLargestEta = 1000;

Status CheckOptions(const Nsga2Options& options) {
  const auto count = [](const char* what, std::size_t least, std::size_t found) {
    return InvalidArgument(std::string("the ") + what + " has from " + std::to_string(least) + " to " +
                           std::to_string(kMostIndividuals) + " vectors, found " + std::to_string(found));
  };
  if (options.population < 2 || options.population > kMostIndividuals) {
    return count("population", 2, options.population);
  }
  if (options.offspring > kMostIndividuals) return count("offspring", 0, options.offspring);
  for (const auto& [name, value, most] :
       {std::tuple{"share of couples that are crossed", options.crossover, 1.0},
        {"probability of mutation", options.mutation, 1.0},
        {"eta of the crossover", options.crossover_eta, kLargestEta},
        {"eta of the mutation", options.mutation_eta, kLargestEta}}) {
    if (value >= 0 && value <= most) continue;
    return InvalidArgument(std::string("the ") + name + " lies between 0 and " + NumberText(most) +
                           ", found " + NumberText(value));
  }
  return OkStatus();
}

Status CheckBounds(std::span<const VariableBounds> bounds) {
  if (bounds.empty() || bounds.size() > kMostVariables) {
    return InvalidArgument("a vector has from 1 to " + std::to_string(kMostVariables) + " variables, found " +
                           std::to_string(bounds.size()));
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].low <= bounds[i].high && std::isfinite(bounds[i].high - bounds[i].low)) continue;
    return InvalidArgument("variable " + std::to_string(i) + " is bounded by " + NumberText(bounds[i].low) +
                           " and " + NumberText(bounds[i].high) +
                           "; bounds are finite, and the lower comes first");
  }
  return OkStatus();
}

Status CheckGenome(std::span<const VariableBounds> bounds, const Genome& genome) {
  if (genome.size() != bounds.size()) {
    return InvalidArgument("has " + std::to_string(genome.size()) + " variables instead of " +
                           std::to_string(bounds.size()));
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (genome[i] >= bounds[i].low && genome[i] <= bounds[i].high) continue;
    return InvalidArgument("variable " + std::to_string(i) + " is " + NumberText(genome[i]) + ", outside " +
                           NumberText(bounds[i].low) + " to " + NumberText(bounds[i].high));
  }
  return OkStatus();
}

Status CheckObjectives(const Objectives& objectives, std::size_t expected) {
  if (objectives.size() != expected || objectives.size() < 2) {
    return InvalidArgument("has " + std::to_string(objectives.size()) + " objectives instead of " +
                           (expected < 2 ? "two or more" : std::to_string(expected)));
  }
  for (const double value : objectives) {
    if (!std::isfinite(value)) {
      return InvalidArgument("has an objective of " + NumberText(value) +
                             "; a failed evaluation needs a finite value that is worse than any other");
    }
  }
  return OkStatus();
}

std::string Vector(std::size_t index) { return "vector " + std::to_string(index); }

Status CheckSearch(const Nsga2Options& options, std::span<const VariableBounds> bounds) {
  TRIBUTARY_RETURN_IF_ERROR(CheckOptions(options));
  return CheckBounds(bounds);
}

Status CheckGiven(const Nsga2Options& options, std::span<const VariableBounds> bounds,
                  std::span<const Genome> given) {
  if (given.size() > options.population) {
    return InvalidArgument("a population of " + std::to_string(options.population) + " cannot start with " +
                           std::to_string(given.size()) +
                           " given vectors; give fewer, or choose a larger population");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    TRIBUTARY_RETURN_IF_ERROR(CheckGenome(bounds, given[i]).WithContext("given " + Vector(i)));
  }
  return OkStatus();
}

Status CheckState(const Nsga2Options& options, std::span<const VariableBounds> bounds,
                  const Nsga2State& state) {
  if (state.generation == 0 || state.population.empty() || state.population.size() > options.population) {
    return InvalidArgument("a search with a population of " + std::to_string(options.population) +
                           " cannot resume from generation " + std::to_string(state.generation) + " with " +
                           std::to_string(state.population.size()) + " vectors; start a new search");
  }
  const std::size_t expected = state.population[0].objectives.size();
  for (std::size_t i = 0; i < state.population.size(); ++i) {
    const std::string context = "saved " + Vector(i);
    TRIBUTARY_RETURN_IF_ERROR(CheckGenome(bounds, state.population[i].genome).WithContext(context));
    TRIBUTARY_RETURN_IF_ERROR(CheckObjectives(state.population[i].objectives, expected).WithContext(context));
  }
  return OkStatus();
}

Status CheckTold(const Nsga2State& state, std::size_t asked, std::span<const Objectives> objectives) {
  if (objectives.size() != asked) {
    return InvalidArgument("objectives of " + std::to_string(asked) + " vectors were asked for, found " +
                           std::to_string(objectives.size()));
  }
  const auto evaluated = std::ranges::find_if(objectives, [](const Objectives& one) { return !one.empty(); });
  if (evaluated == objectives.end()) return InvalidArgument("none of the vectors asked for was evaluated");
  const std::size_t expected =
      state.population.empty() ? evaluated->size() : state.population[0].objectives.size();
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].empty()) continue;
    TRIBUTARY_RETURN_IF_ERROR(CheckObjectives(objectives[i], expected).WithContext(Vector(i)));
  }
  return OkStatus();
}

}  // namespace

void SimulatedBinaryCrossover(Rng& rng, std::span<const VariableBounds> bounds, double eta, Genome& first,
                              Genome& second) {
  TRIBUTARY_CHECK(first.size() == bounds.size() && second.size() == bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (rng.Uniform() >= kCrossed) continue;
    const auto [low, high] = std::minmax({first[i], second[i]});
    const double distance = high - low;
    if (!(distance > kSameValue * (bounds[i].high - bounds[i].low))) continue;
    const double u = rng.Uniform();
    const double below = SpreadFactor(u, low - bounds[i].low, distance, eta);
    const double above = SpreadFactor(u, bounds[i].high - high, distance, eta);
    const double middle = low + distance / 2;
    double lower = std::clamp(middle - below * distance / 2, bounds[i].low, bounds[i].high);
    double upper = std::clamp(middle + above * distance / 2, bounds[i].low, bounds[i].high);
    // Otherwise one child would get all the smaller values.
    if (rng.Uniform() < 0.5) std::swap(lower, upper);
    first[i] = lower;
    second[i] = upper;
  }
}

void PolynomialMutation(Rng& rng, std::span<const VariableBounds> bounds, double eta, double probability,
                        Genome& genome) {
  TRIBUTARY_CHECK(genome.size() == bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (rng.Uniform() >= probability) continue;
    const double extent = bounds[i].high - bounds[i].low;
    if (!(extent > 0)) continue;
    const double u = rng.Uniform();
    const bool down = u < 0.5;
    const double room = (down ? genome[i] - bounds[i].low : bounds[i].high - genome[i]) / extent;
    const double tail = down ? 2 * u : 2 * (1 - u);  // 0: to the bound; 1: no step
    const double step = 1 - RealPower(tail + (1 - tail) * RealPower(1 - room, eta + 1), 1 / (eta + 1));
    genome[i] = std::clamp(genome[i] + (down ? -step : step) * extent, bounds[i].low, bounds[i].high);
  }
}

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

}  // namespace tributary::inline policy
