#include "tributary/policy/sampling/deadline.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/base/portable_math.h"
#include "tributary/policy/sampling/latent_dirichlet.h"

namespace tributary::inline policy {
namespace {

constexpr double kLargestTierPull = 50;  // exp(50) is beyond every useful trade-off, and far from overflow

// Scales amounts to sum to `total`, each at most `have`: what exceeds one amount goes to the others, in
// proportion to what they still have.
void HoldToTotal(std::vector<double>& amounts, std::span<const std::int64_t> have, double total,
                 double available) {
  double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  const double scale = sum > 0 ? total / sum : 0.0;
  sum = 0;
  for (std::size_t i = 0; i < have.size(); ++i) {
    amounts[i] = std::min(static_cast<double>(have[i]), amounts[i] * scale);
    sum += amounts[i];
  }
  if (!(available > sum)) return;
  const double fill = std::max(0.0, total - sum) / (available - sum);
  for (std::size_t i = 0; i < have.size(); ++i)
    amounts[i] += fill * (static_cast<double>(have[i]) - amounts[i]);
}

// Amounts of clients' samples, summing to `total`, that together with `there` (counts by class) come closest
// to the overall class shares: expectation-maximisation on the amounts, each at most `have`. `favour` is a
// prior relative to what clients have; zeros for none.
std::vector<double> Complement(const LabelShares& shares, std::span<const std::int64_t> have,
                               std::span<const double> favour, double total,
                               const std::vector<double>& there) {
  constexpr int kRounds = 25;
  const double size = std::accumulate(there.begin(), there.end(), total);
  const double available = static_cast<double>(std::accumulate(have.begin(), have.end(), std::int64_t{0}));
  std::vector<double> amounts(have.size(), 0.0);
  if (!(available > 0 && total > 0)) return amounts;
  std::vector<double> prior(have.size());
  for (std::size_t i = 0; i < have.size(); ++i) {
    amounts[i] = static_cast<double>(have[i]) * (total / available);
    prior[i] = favour[i] * amounts[i];
  }
  std::vector<double> lack(shares.classes());
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> mixture = there;
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (!(amounts[i] > 0)) continue;
      for (const auto& share : shares.of(i)) mixture[share.label] += amounts[i] * share.share;
    }
    for (std::size_t label = 0; label < lack.size(); ++label) {
      lack[label] = mixture[label] > 0 ? size * shares.overall()[label] / mixture[label] : 0.0;
    }
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (!(amounts[i] > 0)) continue;
      double factor = 0;
      for (const auto& share : shares.of(i)) factor += share.share * lack[share.label];
      // Without a prior, squaring converges faster.
      amounts[i] = amounts[i] * (prior[i] > 0 ? factor : factor * factor) + prior[i];
    }
    HoldToTotal(amounts, have, total, available);
  }
  return amounts;
}

// Rounds the amounts to integers that sum to `total`, each at most `have`.
std::vector<std::int64_t> Rounded(const std::vector<double>& amounts, std::span<const std::int64_t> have,
                                  std::int64_t total) {
  std::vector<std::int64_t> whole(amounts.size(), 0);
  std::vector<std::pair<double, std::size_t>> rests;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    whole[i] = std::clamp(static_cast<std::int64_t>(std::floor(amounts[i])), std::int64_t{0}, have[i]);
    total -= whole[i];
    if (have[i] > 0) rests.emplace_back(static_cast<double>(whole[i]) - amounts[i], i);
  }
  std::sort(rests.begin(), rests.end());
  // Rounding errors of the sum can leave more than one per client, or one too many.
  while (total != 0) {
    const std::int64_t before = total;
    for (auto& [rest, i] : rests) {
      if (total > 0 && whole[i] < have[i]) ++whole[i], --total;
      if (total < 0 && whole[i] > 0) --whole[i], ++total;
    }
    TRIBUTARY_CHECK(total != before);
  }
  return whole;
}

double Deviation(const LabelShares& shares, const std::vector<std::int64_t>& taken) {
  const std::vector<double> pooled = shares.Pooled(std::vector<double>(taken.begin(), taken.end()));
  double deviation = 0;
  for (std::size_t label = 0; label < pooled.size(); ++label) {
    deviation += std::abs(pooled[label] - shares.overall()[label]);
  }
  return deviation;
}

// The sort key of a client by label composition: the two most frequent classes, then the share of the first.
std::tuple<std::uint32_t, std::uint32_t, double> PlaceOf(const LabelShares& shares, std::size_t client) {
  LabelShares::Share first, second;
  for (const auto& share : shares.of(client)) {
    if (share.share > first.share) {
      second = first;
      first = share;
    } else if (share.share > second.share) {
      second = share;
    }
  }
  return {first.label, second.label, first.share};
}

std::vector<std::uint32_t> SlowestFirst(const SamplingProblem& problem) {
  std::vector<std::uint32_t> clients;
  for (std::uint32_t client = 0; client < problem.sizes.size(); ++client) {
    if (problem.sizes[client] > 0) clients.push_back(client);
  }
  std::stable_sort(clients.begin(), clients.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return problem.DelayOf(a) > problem.DelayOf(b); });
  return clients;
}

// How an epoch is divided into tiers.
struct TierShape {
  // Fraction of a tier, in (0, 1], taken from the slowest clients in order; the rest brings its class shares
  // closest to those of all samples. Lower makes batches more alike, higher makes slow tiers shorter.
  double purity = 1;
  // The delay of a tier's fastest client should be at least this fraction of the delay of its slowest.
  double band = 1;
  // Maximum steps per tier. Fewer follow the delays closely; more average over more clients.
  std::size_t longest = SIZE_MAX;
  // How strongly the rest of a tier favours slow clients over clients with suitable labels, as in latent
  // Dirichlet sampling: exp(pull) per standard deviation of delay. 0: labels only.
  double pull = 0;
  // Minimum steps per tier, if the epoch has enough left.
  std::size_t shortest = 1;
};

// Divides an epoch with steps of the given sizes (largest first) into tiers, slowest first. `slowest_first`
// lists the clients that have samples. Uses every sample once.
std::vector<Tier> MakeTiers(const SamplingProblem& problem, const LabelShares& shares,
                            std::span<const std::uint32_t> slowest_first,
                            std::span<const std::int64_t> step_sizes, const TierShape& shape) {
  std::vector<double> favour = StandardisedDelays(problem);
  for (double& value : favour) {
    value = shape.pull > 0 ? PortableExp(std::clamp(shape.pull * value, -kLargestTierPull, kLargestTierPull))
                           : 0.0;
  }
  std::vector<std::int64_t> left = problem.sizes;
  std::vector<Tier> tiers;
  while (!step_sizes.empty()) {
    while (left[slowest_first.front()] == 0) slowest_first = slowest_first.subspan(1);
    const double band = shape.band * problem.DelayOf(slowest_first.front());
    std::int64_t in_band = 0;
    for (const std::uint32_t client : slowest_first) {
      if (problem.DelayOf(client) < band) break;
      in_band += left[client];
    }
    Tier tier{0, std::vector<std::int64_t>(left.size(), 0)};
    std::int64_t room = 0;
    while (tier.steps < std::min(shape.longest, step_sizes.size()) &&
           (tier.steps < shape.shortest ||
            shape.purity * static_cast<double>(room) < static_cast<double>(in_band))) {
      room += step_sizes[tier.steps++];
    }
    step_sizes = step_sizes.subspan(tier.steps);
    // In order, beyond the band if the last step has room.
    auto own = static_cast<std::int64_t>(shape.purity * static_cast<double>(room));
    std::vector<double> there(shares.classes(), 0.0);
    std::int64_t more = room;
    for (const std::uint32_t client : slowest_first) {
      const std::int64_t count = std::min(own, left[client]);
      tier.taken[client] = count;
      left[client] -= count;
      own -= count;
      more -= count;
      for (const auto& share : shares.of(client))
        there[share.label] += static_cast<double>(count) * share.share;
      if (own == 0) break;
    }
    const std::vector<std::int64_t> rest =
        Rounded(Complement(shares, left, favour, static_cast<double>(more), there), left, more);
    for (std::size_t i = 0; i < left.size(); ++i) {
      tier.taken[i] += rest[i];
      left[i] -= rest[i];
    }
    tiers.push_back(std::move(tier));
  }
  return tiers;
}

// A lower bound of any plan with these tiers: the mean deviation if every step were like its whole tier.
double LeastDeviation(const std::vector<Tier>& tiers, const LabelShares& shares) {
  double sum = 0, steps = 0;
  for (const Tier& tier : tiers) {
    sum += static_cast<double>(tier.steps) * Deviation(shares, tier.taken);
    steps += static_cast<double>(tier.steps);
  }
  return steps > 0 ? sum / steps : 0.0;
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

  // The maximum factor by which the slowest clients' tier can be longer than their own samples need.
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

  // Whether tiers of this shape are within the bound.
  bool Try(const TierShape& shape) {
    const std::vector<Tier> tiers = MakeTiers(problem_, shares_, slowest_first_, step_sizes_, shape);
    // Spreading is the most expensive part, and most plans can be rejected without it.
    if (best_ && within_ && LeastDeviation(tiers, shares_) > most_deviation_) return false;
    if (best_ && within_ && MeanTime(tiers) >= time_) return true;
    return Consider(SpreadTiers(tiers, shares_, rng_));
  }

  // Whether a plan is within the bound; keeps it if it is the best so far.
  bool Consider(SamplingPlan plan) {
    const double deviation = Mean(StepDeviations(plan, shares_));
    const double time = Mean(StepDurations(plan, problem_));
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

SamplingPlan SpreadTiers(const std::vector<Tier>& tiers, const LabelShares& shares, Rng& rng) {
  std::vector<std::tuple<std::tuple<std::uint32_t, std::uint32_t, double>, std::uint32_t>> row;
  for (std::uint32_t client = 0; client < shares.clients(); ++client)
    row.emplace_back(PlaceOf(shares, client), client);
  SamplingPlan plan;
  for (const Tier& tier : tiers) {
    Shuffle(rng, std::span(row));
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    std::vector<std::vector<std::uint32_t>> steps(tier.steps);
    std::size_t next = static_cast<std::size_t>(rng.Below(tier.steps));
    for (const auto& [place, client] : row) {
      for (std::int64_t i = 0; i < tier.taken[client]; ++i) {
        steps[next].push_back(client);
        if (++next == tier.steps) next = 0;
      }
    }
    for (auto& step : steps) plan.AddStep(step);
  }
  return plan;
}

SamplingPlan PlanDeadline(const SamplingProblem& problem, std::int64_t batch, double most_deviation, Rng& rng,
                          const Rng& dirichlet) {
  constexpr int kHalvings = 8;
  constexpr double kStrongestPull = 12;
  constexpr std::int64_t kMostRedrawn = 1'000'000;
  Search search(problem, batch, most_deviation, rng);
  search.Try({1, 0});  // one tier: the longest epoch, with the least deviation
  // The cost of a try grows with tiers times clients.
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
  // With many different delays, a gradual pull beats a strict order. A little purity removes the tails.
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
  // In an epoch with few steps, tiers are short, and a lucky draw can be better.
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

}  // namespace tributary::inline policy
