#include "tributary/policy/dropout/nsga2_checks.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "tributary/base/number_text.h"

namespace tributary {
namespace {

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
                             "; what failed is given a finite value that is worse than any other");
    }
  }
  return OkStatus();
}

std::string Vector(std::size_t index) { return "vector " + std::to_string(index); }

}  // namespace

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
                           " cannot go on from generation " + std::to_string(state.generation) + " with " +
                           std::to_string(state.population.size()) + " vectors; start it anew");
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
  const auto evaluated =
      std::find_if(objectives.begin(), objectives.end(), [](const Objectives& one) { return !one.empty(); });
  if (evaluated == objectives.end()) return InvalidArgument("none of the vectors asked for was evaluated");
  const std::size_t expected =
      state.population.empty() ? evaluated->size() : state.population[0].objectives.size();
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].empty()) continue;
    TRIBUTARY_RETURN_IF_ERROR(CheckObjectives(objectives[i], expected).WithContext(Vector(i)));
  }
  return OkStatus();
}

}  // namespace tributary
