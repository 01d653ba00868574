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
#include "tributary/explore/exploration_data.h"
#include "tributary/explore/state.h"
#include "tributary/explore/thin_training.h"
#include "tributary/explore/trials.h"
#include "tributary/policy/dropout/nsga2.h"
#include "tributary/policy/dropout/thin_cost.h"

namespace tributary {

// Looks for the dropout vectors of a network that are worth their cost: NSGA-II over (cost, loss after a short training),
// where most candidates get a shorter training only (policy/dropout/screening.h).
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
  static StatusOr<std::unique_ptr<Exploration>> Make(const ExploreOptions& options, std::shared_ptr<const Model> model,
                                                     const Dataset& train, std::map<std::string, std::string> names,
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
    std::size_t screened = 0, evaluated = 0, on_front = 0;
    double hypervolume = 0;                 // of cost and loss as shares of the full network's and the worst uniform's
    std::optional<double> loss_at_half_cost;  // the best there is
    std::optional<double> full_loss;
  };
  Standing standing() const;

  // Nothing before the full network has been evaluated.
  std::optional<ParetoFront> Front() const;
  // The uniform vectors that were evaluated, by ascending cost; not the full network.
  std::vector<FrontPoint> Uniform() const;
  // The losses that vectors come to with other chance (mini-batches, channels), for each `repeat` from 1.
  StatusOr<std::vector<double>> Repeat(const std::vector<FrontPoint>& points, std::uint64_t repeat, const Watch& watch);

 private:
  using Kept = std::vector<std::int64_t>;
  Exploration(const ExploreOptions& options, std::shared_ptr<const Model> model, ExplorationData data, const Clock& clock);

  Status StartSearch();
  Status Screen(const std::vector<Kept>& those, const Watch& watch);
  std::vector<Kept> Worth(const std::vector<Kept>& those) const;
  Status EvaluateFully(const std::vector<Kept>& those, const Watch& watch);
  bool KnownBefore(const Kept& kept, std::uint64_t generation) const;
  std::uint64_t Barren() const;

  FrontPoint PointOf(const Kept& kept, double convergence) const;
  double CostOf(const Kept& kept) const { return PointOf(kept, 0).Cost(options_.cost); }
  Kept KeptAt(double rate) const;

  const ExploreOptions options_;
  const std::shared_ptr<const Model> model_;
  const ExplorationData data_;
  const Clock& clock_;
  const ThinCosts costs_;

  std::map<std::string, std::string> setup_;
  std::optional<CostModel> cost_model_;
  std::vector<Snapshot> snapshots_;
  std::optional<Nsga2State> resumed_;
  std::optional<Nsga2> search_;
  std::map<Kept, CandidateRecord> candidates_;  // ordered: sums over them do not depend on who was done first
  std::unique_ptr<TrialRunner> trials_;
};

}  // namespace tributary
