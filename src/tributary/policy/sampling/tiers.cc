#include "tributary/policy/sampling/tiers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/base/portable_math.h"
#include "tributary/policy/sampling/latent_dirichlet.h"

namespace tributary {
namespace {

constexpr double kLargestTierPull = 50;  // exp(50) is past every trade-off, and far from overflow

// Scales amounts to `total` in all, none above what there is: what cannot come from one comes from the others in
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

// Amounts of what clients have, `total` in all, that bring what is there, counted by class, nearest to the overall shares:
// expectation-maximisation on the amounts, each held to what there is. `favour` is a prior, in proportion to what
// clients have; all zero for none.
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
      // Squared where nothing but the labels matters: larger strides.
      amounts[i] = amounts[i] * (prior[i] > 0 ? factor : factor * factor) + prior[i];
    }
    HoldToTotal(amounts, have, total, available);
  }
  return amounts;
}

// Whole numbers, `total` in all, near the amounts and never above what there is.
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
  // Rounding of the amounts' sum can leave more than one for each, or one too many.
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

// Where a client stands in the row: beside those with the same first and second most frequent class, and about as much
// of the first.
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

}  // namespace

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
    // In order, past the band if the last step has place for more.
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

double LeastDeviation(const std::vector<Tier>& tiers, const LabelShares& shares) {
  double sum = 0, steps = 0;
  for (const Tier& tier : tiers) {
    sum += static_cast<double>(tier.steps) * Deviation(shares, tier.taken);
    steps += static_cast<double>(tier.steps);
  }
  return steps > 0 ? sum / steps : 0.0;
}

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

}  // namespace tributary
