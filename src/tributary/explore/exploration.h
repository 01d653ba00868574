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
#include "tributary/explore/state.h"
#include "tributary/explore/trials.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/nsga2.h"

namespace tributary::inline explore {

// Looks for the dropout vectors of a network that are worth their cost: NSGA-II over (cost, loss after a short training).
// Successive halving: of those that a generation asks for, all are screened by a very short training, the promising ones
// among them evaluated (policy/dropout/screening.h), and those who would be on the front are trained again with other
// chance, so that no candidate is there by luck. What leaves the network worse than no training is not on it.
//
//   1. Make, and Resume where a state was saved;
//   2. Prepare: step times and snapshots, those that the state does not have;
//   3. Advance, a generation at a time, for as long as there is time;
//   4. Front, at any time. Save, at any time that nothing else is going on.
// Whatever was cancelled can be called again, now or in another process, and goes on to the same result: all but measured
// times is a function of network, data and options, whatever the number of threads.
class Exploration {
 public:
  // `names` say what network and data are, for the state file; data and clock must outlive it.
  static StatusOr<std::unique_ptr<Exploration>> Make(const ExploreOptions& options,
                                                     std::shared_ptr<const Model> model, const Dataset& train,
                                                     std::map<std::string, std::string> names,
                                                     const Clock& clock);

  Status Resume(const std::filesystem::path& path);
  Status Save(const std::filesystem::path& path) const;

  struct Watch {
    std::function<bool()> should_stop;  // asked on any thread
    std::function<void()> on_news;      // called by one thread at a time; may ask for standing()
  };
  // Leaves the calling thread with one compute thread.
  Status Prepare(const Watch& watch);
  // Evaluates a generation and makes the next. False, at once, where the last ones brought no new vector.
  StatusOr<bool> Advance(const Watch& watch);

  // Where it stands, for people.
  struct Standing {
    std::uint64_t generation = 0;
    std::size_t snapshots = 0;
    std::size_t screened = 0, evaluated = 0, confirmed = 0, on_front = 0;
    // Of the training steps that it would have taken to evaluate all that were screened.
    double saved = 0;
    // Of cost, and of what is lacking to the full network's gain over no training, both as shares of the full network's:
    // the gain at a random share of its cost. 0 where the full network gains nothing.
    double hypervolume = 0;
    std::optional<double> loss_at_half_cost;  // the best there is
    std::optional<double> full_loss;
    std::optional<double> untrained;  // loss of the snapshots as they are
  };
  Standing standing() const;

  // Of those that were confirmed, or in the first generation of those that were evaluated. Nothing before the full
  // network has been.
  std::optional<ParetoFront> Front() const;
  // The uniform vectors that were evaluated, by ascending cost; not the full network.
  std::vector<FrontPoint> Uniform() const;
  // The losses that vectors come to with chance (mini-batches, channels) that had no part in the search, other for each
  // `repeat` from 1.
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
  // Trains each from all snapshots with `repeats` chances from the first on; says what the mean loss of one is when it is
  // known.
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
