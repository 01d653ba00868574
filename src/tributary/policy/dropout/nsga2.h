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

// How new real-valued vectors come from old ones: the variation of NSGA-II, in the forms that respect bounds (Deb and
// Agrawal, 1995; Deb and Goyal, 1996; as in Deb's own implementation).

using Genome = std::vector<double>;

// What a variable may be; one of equal bounds is fixed.
struct VariableBounds {
  double low = 0, high = 1;
};

// Simulated binary crossover: each variable is crossed with probability one half, and else passed on as it is. Crossed
// values spread about the parents' as one-point crossover of bit strings would spread them: near them where `eta` is
// large, and in proportion to how far apart they are. Where both bounds are equally far from the nearer parent the mean
// of the children is the parents'; elsewhere the side with less room spreads less.
// Parents lie within the bounds, and so do the children, which take their parents' places.
void SimulatedBinaryCrossover(Rng& rng, std::span<const VariableBounds> bounds, double eta, Genome& first,
                              Genome& second);

// Polynomial mutation: each variable moves with this probability, by a step that is mostly small where `eta` is large
// and never leads out of the bounds.
void PolynomialMutation(Rng& rng, std::span<const VariableBounds> bounds, double eta, double probability,
                        Genome& genome);

struct Nsga2Options {
  // How many survive a generation. More cover the front more finely and take longer to reach it.
  std::size_t population = 100;
  // How many are asked for in each generation after the first; 0 is as many as survive. More than that is for callers
  // who screen them cheaply and evaluate only some.
  std::size_t offspring = 0;
  // The share of couples that are crossed rather than copied before mutation.
  double crossover = 0.9;
  // Larger keeps children nearer to their parents.
  double crossover_eta = 15;
  double mutation_eta = 20;
  // For each variable; 0 stands for one over the number of variables, which moves one of them on average.
  double mutation = 0;
  std::uint64_t seed = 1;
};

struct Individual {
  Genome genome;
  Objectives objectives;
  friend bool operator==(const Individual&, const Individual&) = default;
};

// All that a search has learnt: with it, the same options and the same bounds it goes on as if it had never stopped.
struct Nsga2State {
  std::uint64_t generation = 0;  // how many were told
  std::vector<Individual> population;
  friend bool operator==(const Nsga2State&, const Nsga2State&) = default;
};

// NSGA-II (Deb et al., 2002): looks for the vectors whose objectives, all to be small, no other vector dominates.
// Parents come from binary tournaments (the better front; within it the one with more room), children from simulated
// binary crossover and polynomial mutation, and survivors from parents and children together by the same order.
//
// The caller evaluates, in whatever order and on however many threads it likes:
//   1. Start() with vectors it wants to be looked at, or Resume() from a saved state;
//   2. asked() are the vectors of this generation;
//   3. Tell() gives their objectives and makes the next generation;
//   4. 2 and 3 as often as wanted; state() may be saved at any time.
// What is asked is a function of options, bounds and state alone (in the first generation of options, bounds and the
// given vectors): whoever stops between asking and telling gets the same vectors again.
class Nsga2 {
 public:
  // The first generation is the given vectors, which may be none, filled up with random ones. An error in words for
  // options or bounds out of their range, and for more vectors than the population or one outside the bounds.
  static StatusOr<Nsga2> Start(const Nsga2Options& options, std::vector<VariableBounds> bounds,
                               std::vector<Genome> given = {});
  // An error in words too for a state that no search with these options and bounds can have.
  static StatusOr<Nsga2> Resume(const Nsga2Options& options, std::vector<VariableBounds> bounds,
                                Nsga2State state);

  std::span<const Genome> asked() const { return asked_; }

  // Objectives for each vector asked, at least two and for all equally many, all finite: give what failed a value worse
  // than any other. Empty for one that was not evaluated: it is forgotten, but some must have been. After an error all is
  // as before.
  Status Tell(std::span<const Objectives> objectives);

  const Nsga2State& state() const { return state_; }
  // Those of the population that no other dominates, in its order.
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
