#include "tributary/policy/sampling/deadline.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tributary/policy/sampling/latent_dirichlet.h"
#include "tributary/policy/sampling/plan_measures.h"
#include "tributary/policy/sampling/tiers.h"

namespace tributary {
namespace {

std::vector<std::uint32_t> SlowestFirst(const SamplingProblem& problem) {
  std::vector<std::uint32_t> clients;
  for (std::uint32_t client = 0; client < problem.sizes.size(); ++client) {
    if (problem.sizes[client] > 0) clients.push_back(client);
  }
  std::stable_sort(clients.begin(), clients.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return problem.DelayOf(a) > problem.DelayOf(b); });
  return clients;
}

class Search {
 public:
  Search(const SamplingProblem& problem, std::int64_t batch, double most_deviation, Rng& rng)
      : problem_(problem),
        shares_(problem),
        slowest_first_(SlowestFirst(problem)),
        step_sizes_(StepSizes(TotalSamples(problem), batch)),
        most_deviation_(most_deviation),
        rng_(rng) {}

  std::size_t steps() const { return step_sizes_.size(); }

  // How many times longer than their own samples need the slowest clients' tier can be.
  double MostDilution() const {
    double slowest = 0, all = 0;
    for (const std::uint32_t client : slowest_first_) {
      all += static_cast<double>(problem_.sizes[client]);
      if (problem_.DelayOf(client) == problem_.DelayOf(slowest_first_[0])) slowest = all;
    }
    return all / slowest;
  }

  std::size_t DifferentDelays() const {
    std::size_t different = 1;
    for (std::size_t i = 1; i < slowest_first_.size(); ++i) {
      different += problem_.DelayOf(slowest_first_[i]) != problem_.DelayOf(slowest_first_[i - 1]) ? 1 : 0;
    }
    return different;
  }

  // Whether tiers of this shape keep within the bound.
  bool Try(const TierShape& shape) {
    const std::vector<Tier> tiers = MakeTiers(problem_, shares_, slowest_first_, step_sizes_, shape);
    // Spreading is the larger part of the work, and most plans need none to be told from the best.
    if (best_ && within_ && LeastDeviation(tiers, shares_) > most_deviation_) return false;
    if (best_ && within_ && MeanTime(tiers) >= time_) return true;
    return Consider(SpreadTiers(tiers, shares_, rng_));
  }

  // Whether a plan keeps within the bound; it is kept if it is the best so far.
  bool Consider(SamplingPlan plan) {
    const double deviation = Mean(StepDeviations(plan, shares_));
    const double time = Mean(StepTimes(plan, problem_));
    const bool within = deviation <= most_deviation_;
    const bool better =
        !best_ || (within && !within_) ||
        (within == within_ &&
         (within ? time < time_ || (time == time_ && deviation < deviation_) : deviation < deviation_));
    if (better) {
      best_ = std::move(plan);
      within_ = within;
      time_ = time;
      deviation_ = deviation;
    }
    return within;
  }

  SamplingPlan Best() && { return std::move(*best_); }

 private:
  double MeanTime(const std::vector<Tier>& tiers) const {
    double sum = 0;
    for (const Tier& tier : tiers) {
      double slowest = 0;
      for (std::size_t client = 0; client < tier.taken.size(); ++client) {
        if (tier.taken[client] > 0) slowest = std::max(slowest, problem_.DelayOf(client));
      }
      sum += slowest * static_cast<double>(tier.steps);
    }
    return sum / static_cast<double>(step_sizes_.size());
  }

  const SamplingProblem& problem_;
  LabelShares shares_;
  std::vector<std::uint32_t> slowest_first_;
  std::vector<std::int64_t> step_sizes_;
  double most_deviation_;
  Rng& rng_;
  std::optional<SamplingPlan> best_;
  bool within_ = false;
  double time_ = 0;
  double deviation_ = 0;
};

}  // namespace

SamplingPlan PlanDeadline(const SamplingProblem& problem, std::int64_t batch, double most_deviation, Rng& rng,
                          const Rng& dirichlet) {
  constexpr int kHalvings = 8;
  constexpr double kStrongestPull = 12;
  constexpr std::int64_t kMostRedrawn = 1'000'000;
  Search search(problem, batch, most_deviation, rng);
  search.Try({1, 0});  // all in one tier: the longest, with the least deviation
  // What a try costs grows with tiers times clients.
  const std::size_t most_tiers = std::clamp<std::size_t>(64'000 / problem.sizes.size(), 8, 64);
  const std::size_t shortest_tier = (search.steps() + most_tiers - 1) / most_tiers;
  const std::size_t shortest_band = search.DifferentDelays() > most_tiers ? shortest_tier : 1;
  std::vector<TierShape> shapes;
  for (const double band : {1.0, 0.8, 0.6, 0.4, 0.2}) shapes.push_back({1, band, SIZE_MAX, 0, shortest_band});
  for (std::size_t longest = shortest_tier; longest < search.steps(); longest *= 2) {
    shapes.push_back({1, 0, longest});
    shapes.push_back({1, 0.8, longest, 0, shortest_band});
  }
  const double most_dilution = search.MostDilution();
  for (TierShape shape : shapes) {
    if (search.Try(shape)) continue;
    double low = 1, high = most_dilution;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = std::sqrt(low * high);
      shape.purity = 1 / middle;
      (search.Try(shape) ? high : low) = middle;
    }
  }
  // Where delays are many, a pull that falls off with them does better than an order. A little purity leaves no tails.
  for (const double purity : {0.05, 0.2, 0.5}) {
    for (std::size_t longest = shortest_tier; longest < search.steps() && longest <= 4 * shortest_tier;
         longest *= 2) {
      TierShape shape{purity, 0, longest, kStrongestPull};
      if (search.Try(shape)) continue;
      double low = 0, high = kStrongestPull;
      for (int i = 0; i < kHalvings; ++i) {
        shape.pull = (low + high) / 2;
        (search.Try(shape) ? low : high) = shape.pull;
      }
    }
  }
  // An epoch of few steps has few to a tier, and a lucky draw can be ahead of all of these.
  if (TotalSamples(problem) <= kMostRedrawn) {
    for (const auto chance : {ClientDraws::Chance::kPerSample, ClientDraws::Chance::kPerClient}) {
      const auto within = [&](double delta) {
        Rng stream = dirichlet;
        return search.Consider(PlanLatentDirichlet(problem, batch, {delta, 1, chance}, stream));
      };
      double low = 0, high = 20;
      for (const double delta : {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0}) {
        (within(delta) ? low : high) = delta;
        if (high == delta) break;
      }
      for (int i = 0; i < kHalvings && low < high; ++i) {
        const double middle = (low + high) / 2;
        (within(middle) ? low : high) = middle;
      }
    }
  }
  return std::move(search).Best();
}

}  // namespace tributary
