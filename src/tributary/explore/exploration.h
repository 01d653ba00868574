#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/explore/candidates.h"
#include "tributary/explore/trials.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/nsga2.h"

namespace tributary::inline explore {

// Searches for the Pareto-optimal dropout vectors of a network: NSGA-II over (cost, loss after a short
// training). Successive halving: all vectors of a generation are screened by a very short training, promising
// ones are evaluated (policy/dropout/screening.h), and those that would be on the front are trained again
// with other random seeds, so that none is there by luck. Vectors worse than no training are excluded.
//
//   1. Make, and Resume if there is a saved state;
//   2. Prepare: measures step times and trains snapshots, unless the state contains them;
//   3. Advance, one generation per call, as long as there is time;
//   4. Front, at any time. Save, at any time between other calls.
// A cancelled call can be repeated, also in another process, with the same result: everything but measured
// times is a function of network, data and options, independent of the number of threads.
class Exploration {
 public:
  // `names` identify network and data in the state file; data and clock must outlive the exploration.
  static StatusOr<std::unique_ptr<Exploration>> Make(const ExploreOptions& options,
                                                     std::shared_ptr<const Model> model, const Dataset& train,
                                                     std::map<std::string, std::string> names,
                                                     const Clock& clock);

  Status Resume(const std::filesystem::path& path);
  Status Save(const std::filesystem::path& path) const;

  struct Watch {
    std::function<bool()> should_stop;  // called on any thread
    std::function<void()> on_news;      // called on one thread at a time; may call standing()
  };
  // Sets the compute threads of the calling thread to one.
  Status Prepare(const Watch& watch);
  // Evaluates a generation and makes the next. False, at once, if the last generations found no new vector.
  StatusOr<bool> Advance(const Watch& watch);

  // Progress, for display.
  struct Standing {
    std::uint64_t generation = 0;
    std::size_t snapshots = 0;
    std::size_t screened = 0, evaluated = 0, confirmed = 0, on_front = 0;
    // Fraction of the training steps saved, relative to evaluating all screened vectors.
    double saved = 0;
    // Over cost and loss, relative to the full network: the mean gain at a random fraction of its cost, where
    // the full network's gain over no training is 1. 0 if the full network gains nothing.
    double hypervolume = 0;
    std::optional<double> loss_at_half_cost;  // of the best vector
    std::optional<double> full_loss;
    std::optional<double> untrained;  // loss of the snapshots without training
  };
  Standing standing() const;

  // The front of the confirmed (at first: evaluated) vectors. Empty until the full network was evaluated.
  std::optional<ParetoFront> Front() const;
  // The uniform vectors that were evaluated, by ascending cost, without the full network.
  std::vector<FrontPoint> Uniform() const;
  // The losses of vectors with random seeds not used in the search, different for each `repeat` from 1.
  StatusOr<std::vector<double>> Repeat(const std::vector<FrontPoint>& points, std::uint64_t repeat,
                                       const Watch& watch);

 private:
  using Kept = Candidates::Kept;
  Exploration(const ExploreOptions& options, std::shared_ptr<const Model> model, ExplorationData data,
              std::map<std::string, std::string> setup, const Clock& clock);

  Status StartSearch(Nsga2State from = {});
  Status LookAtSnapshots(const Watch& watch);
  Status Screen(const std::vector<Kept>& those, const Watch& watch);
  Status EvaluateFully(const std::vector<Kept>& those, const Watch& watch);
  Status Confirm(const Watch& watch);
  // Trains each vector from all snapshots with `repeats` random seeds, starting at `first`; calls
  // on_mean(index, mean loss) when all of a vector are done.
  Status TrainAll(const std::vector<Kept>& those, std::uint64_t first, std::size_t repeats,
                  const Watch& watch, const std::function<void(std::size_t, double)>& on_mean);
  std::uint64_t Barren() const;
  FrontPoint PointOf(const Kept& kept, double convergence) const;
  double CostOf(const Kept& kept) const { return PointOf(kept, 0).Cost(options_.cost); }
  Kept KeptAt(double rate) const;
  std::vector<Kept> Given() const;

  const ExploreOptions options_;
  const std::shared_ptr<const Model> model_;
  const ExplorationData data_;
  const Clock& clock_;
  const SubnetworkCosts costs_;

  const std::map<std::string, std::string> setup_;
  std::optional<CostModel> cost_model_;
  std::optional<double> untrained_;
  std::vector<Snapshot> snapshots_;
  std::optional<Nsga2> search_;
  Candidates candidates_;
  std::unique_ptr<TrialRunner> trials_;
};

}  // namespace tributary::inline explore
