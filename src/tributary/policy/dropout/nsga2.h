#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/policy/dropout/pareto.h"

namespace tributary::inline policy {

// The variation operators of NSGA-II on real-valued vectors, in the bounded forms (Deb and Agrawal, 1995; Deb
// and Goyal, 1996; as in Deb's implementation).

using Genome = std::vector<double>;

// The range of a variable; equal bounds fix it.
struct VariableBounds {
  double low = 0, high = 1;
};

// Simulated binary crossover: each variable is crossed with probability 1/2, otherwise copied. Crossed values
// are distributed around the parents' values as by one-point crossover of bit strings: the larger `eta`, the
// closer, in proportion to the parents' distance. The children's mean is the parents' mean if both bounds are
// equally far from the nearer parent; otherwise the side with less room spreads less. Parents must lie within
// the bounds; the children replace them, also within the bounds.
void SimulatedBinaryCrossover(Rng& rng, std::span<const VariableBounds> bounds, double eta, Genome& first,
                              Genome& second);

// Polynomial mutation: each variable moves with this probability. The larger `eta`, the smaller the steps.
void PolynomialMutation(Rng& rng, std::span<const VariableBounds> bounds, double eta, double probability,
                        Genome& genome);

struct Nsga2Options {
  // Survivors per generation. A larger population covers the front more finely and converges more slowly.
  std::size_t population = 100;
  // Vectors asked for in each generation after the first; 0: as many as survive. More are for callers that
  // screen them cheaply and evaluate only some.
  std::size_t offspring = 0;
  // Probability that a pair of parents is crossed rather than copied before mutation.
  double crossover = 0.9;
  // Larger values keep children closer to their parents.
  double crossover_eta = 15;
  double mutation_eta = 20;
  // Probability per variable; 0: one over the number of variables.
  double mutation = 0;
  std::uint64_t seed = 1;
};

struct Individual {
  Genome genome;
  Objectives objectives;
  friend bool operator==(const Individual&, const Individual&) = default;
};

// The complete state of a search: with the same options and bounds it resumes exactly.
struct Nsga2State {
  std::uint64_t generation = 0;  // generations told
  std::vector<Individual> population;
  friend bool operator==(const Nsga2State&, const Nsga2State&) = default;
};

// NSGA-II (Deb et al., 2002): searches for the vectors whose objectives, all minimised, are not dominated.
// Parents win binary tournaments (better front, then larger crowding distance), children come from simulated
// binary crossover and polynomial mutation, and survivors from both by the same order.
//
// The caller evaluates, in any order and on any number of threads:
//   1. Start() with initial vectors, or Resume() from a saved state;
//   2. asked() returns the vectors of this generation;
//   3. Tell() takes their objectives and creates the next generation;
//   4. repeat 2 and 3; state() may be saved at any time.
// asked() depends only on options, bounds and state (in the first generation: on options, bounds and the
// given vectors), so a search interrupted between 2 and 3 asks for the same vectors again.
class Nsga2 {
 public:
  // The first generation is `given`, filled up with random vectors. Fails if options or bounds are out of
  // range, if more vectors than the population are given, or one is outside the bounds.
  static StatusOr<Nsga2> Start(const Nsga2Options& options, std::vector<VariableBounds> bounds,
                               std::vector<Genome> given = {});
  // Also fails if a search with these options and bounds cannot have this state.
  static StatusOr<Nsga2> Resume(const Nsga2Options& options, std::vector<VariableBounds> bounds,
                                Nsga2State state);

  std::span<const Genome> asked() const { return asked_; }

  // Objectives for each asked vector: at least two, the same number for all, all finite; give a failed
  // evaluation values worse than any other. Empty for a vector that was not evaluated: it is dropped, but at
  // least one must be evaluated. Nothing changes on failure.
  Status Tell(std::span<const Objectives> objectives);
  const Nsga2State& state() const { return state_; }
  // The non-dominated individuals of the population, in its order.
  std::vector<Individual> Front() const;

 private:
  Nsga2(const Nsga2Options& options, std::vector<VariableBounds> bounds)
      : options_(options), bounds_(std::move(bounds)) {}
  void AskFirst(std::vector<Genome> given);
  void AskOffspring();

  Nsga2Options options_;
  std::vector<VariableBounds> bounds_;
  Nsga2State state_;
  std::vector<Genome> asked_;
};

}  // namespace tributary::inline policy
