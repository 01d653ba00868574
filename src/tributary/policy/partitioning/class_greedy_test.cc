#include "tributary/policy/partitioning/class_greedy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tributary/policy/partitioning/partition.h"
#include "tributary/policy/partitioning/testing_features.h"
#include "tributary/policy/partitioning/testing_greedy.h"

namespace tributary::inline policy {
namespace {

constexpr PartitionObjective kObjectives[] = {PartitionObjective::kFacilityLocation,
                                              PartitionObjective::kGraphCut, PartitionObjective::kMatchedCut};
constexpr BlockChoice kChoices[] = {BlockChoice::kRaw, BlockChoice::kFill};

// A block's worth from its definition alone.
std::int64_t WorthOf(const DenseSimilarities& similarities, const std::vector<std::size_t>& block,
                     std::size_t quota, PartitionObjective objective) {
  std::int64_t worth = 0;
  const std::size_t samples = similarities.size();
  if (objective == PartitionObjective::kFacilityLocation) {
    for (std::size_t v = 0; v < samples; ++v) {
      std::int64_t best = 0;
      for (const std::size_t a : block) best = std::max<std::int64_t>(best, similarities.Row(v)[a]);
      worth += best;
    }
    return worth;
  }
  for (const std::size_t a : block) {
    if (objective == PartitionObjective::kGraphCut) {
      for (std::size_t v = 0; v < samples; ++v) {
        if (std::ranges::find(block, v) == block.end()) worth += similarities.Row(v)[a];
      }
      continue;
    }
    std::int64_t to_all = 0;
    for (std::size_t v = 0; v < samples; ++v) to_all += similarities.Row(v)[a];
    // λ = 2 · quota / samples, rounded to a step for each sample.
    worth +=
        static_cast<std::int64_t>(static_cast<long double>(to_all) * 2 * static_cast<long double>(quota) /
                                      static_cast<long double>(samples) +
                                  0.5L);
    for (const std::size_t b : block) worth -= similarities.Row(a)[b];
  }
  return worth;
}

std::vector<std::size_t> Members(const ClassBlocks& blocks, std::size_t block) {
  std::vector<std::size_t> members;
  for (std::size_t v = 0; v < blocks.holder.size(); ++v) {
    if (blocks.holder[v] == block) members.push_back(v);
  }
  return members;
}

std::vector<std::size_t> QuotasFor(std::size_t samples, const std::vector<double>& speeds) {
  return SpeedQuotas(std::vector<std::size_t>{samples}, speeds)[0];
}

// Instances of many kinds: spread out, in clusters, with equals, all equal, one sample; few and many blocks.
struct Instance {
  ClusteredSamples samples;
  std::vector<double> speeds;
  double width;
};

std::vector<Instance> Instances() {
  std::vector<Instance> instances;
  Rng rng(11);
  for (std::uint64_t trial = 0; trial < 24; ++trial) {
    const std::size_t samples = trial == 0 ? 1 : 2 + rng.Below(150);
    Instance instance{MakeClusters(trial, samples, 1 + rng.Below(9), 1), {}, 0.3 + 6 * rng.Uniform()};
    if (trial % 4 == 1) {
      for (float& value : instance.samples.values) value = static_cast<float>(static_cast<int>(value / 4));
    }
    if (trial == 9) std::ranges::fill(instance.samples.values, 1.0F);
    for (std::uint64_t j = 0; j < 1 + rng.Below(7); ++j)
      instance.speeds.push_back(trial % 2 == 0 ? 1 : 1 + 4 * rng.Uniform());
    instances.push_back(std::move(instance));
  }
  return instances;
}

TEST(FillBlocks, AreThoseOfThePlainGreedyExactly) {
  for (const Instance& instance : Instances()) {
    const DenseSimilarities similarities = MakeSimilarities(instance.samples.features(), instance.width);
    const auto quotas = QuotasFor(similarities.size(), instance.speeds);
    for (const PartitionObjective objective : kObjectives) {
      for (const BlockChoice choice : kChoices) {
        const ClassBlocks lazy = FillBlocks(similarities, quotas, objective, choice);
        const ClassBlocks plain = ReferenceGreedy(similarities, quotas, objective, choice).Run();
        EXPECT_EQ(lazy.holder, plain.holder) << NameOf(objective) << " " << NameOf(choice);
        EXPECT_EQ(lazy.worth, plain.worth) << NameOf(objective) << " " << NameOf(choice);
        for (std::size_t j = 0; j < quotas.size(); ++j) {
          const auto members = Members(lazy, j);
          EXPECT_EQ(members.size(), quotas[j]);
          EXPECT_EQ(lazy.worth[j], WorthOf(similarities, members, quotas[j], objective));
        }
      }
    }
  }
}

TEST(FillBlocks, AskFarFewerSamplesThanThePlainGreedy) {
  const ClusteredSamples made = MakeClusters(2, 600, 8, 1);
  const DenseSimilarities similarities = MakeSimilarities(made.features(), 4);
  const auto quotas = QuotasFor(600, {4, 2, 1, 1});
  const auto objective = PartitionObjective::kFacilityLocation;
  const ClassBlocks lazy = FillBlocks(similarities, quotas, objective, BlockChoice::kFill);
  const ClassBlocks plain = ReferenceGreedy(similarities, quotas, objective, BlockChoice::kFill).Run();
  EXPECT_EQ(plain.evaluations, 600U * 601U / 2U);
  EXPECT_LT(lazy.evaluations * 5, plain.evaluations);
}

TEST(FillBlocks, OverAllNeighboursAreThoseOverRows) {
  for (const Instance& instance : Instances()) {
    const Panels panels(instance.samples.features(), AllOf(instance.samples.features()));
    const DenseSimilarities similarities = MakeSimilarities(instance.samples.features(), instance.width);
    const NearestSimilarities nearest(panels, instance.width, similarities.size());
    const ComputedSimilarities computed(panels, instance.width);
    const auto quotas = QuotasFor(similarities.size(), instance.speeds);
    for (const BlockChoice choice : kChoices) {
      const ClassBlocks rows =
          FillBlocks(similarities, quotas, PartitionObjective::kFacilityLocation, choice);
      EXPECT_EQ(FillBlocks(nearest, quotas, choice).holder, rows.holder);
      EXPECT_EQ(FillBlocks(computed, quotas, PartitionObjective::kFacilityLocation, choice).holder,
                rows.holder);
    }
  }
}

TEST(FillBlocks, TakeTheLeastLossWhereEveryGainIsNegative) {
  // One block for all: a cut of everything against nothing is worth nothing, and the last steps lose.
  const ClusteredSamples made = MakeClusters(6, 40, 3, 1);
  const DenseSimilarities similarities = MakeSimilarities(made.features(), 5);
  const ClassBlocks blocks = FillBlocks(similarities, std::vector<std::size_t>{40},
                                        PartitionObjective::kGraphCut, BlockChoice::kRaw);
  EXPECT_EQ(blocks.worth[0], 0);
  EXPECT_EQ(Members(blocks, 0).size(), 40U);
}

TEST(FillBlocks, ByFillGoRoundWhereQuotasAreEqual) {
  const ClusteredSamples made = MakeClusters(7, 12, 3, 1);
  const DenseSimilarities similarities = MakeSimilarities(made.features(), 5);
  // However little the others gain, no block is ever two ahead: so the first takes the best, and the second the next.
  for (const PartitionObjective objective : kObjectives) {
    const ClassBlocks blocks =
        FillBlocks(similarities, std::vector<std::size_t>{4, 4, 4}, objective, BlockChoice::kFill);
    const std::vector<std::int64_t> sums = similarities.RowSums();
    const auto best = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
    EXPECT_EQ(blocks.holder[best], 0U);
  }
}

TEST(Objectives, AreSubmodularAndFacilityLocationNeverFalls) {
  Rng rng(21);
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    const std::size_t samples = 4 + rng.Below(16);
    const ClusteredSamples made = MakeClusters(trial, samples, 1 + rng.Below(4), 1);
    const DenseSimilarities similarities = MakeSimilarities(made.features(), 0.5 + 5 * rng.Uniform());
    std::vector<std::uint32_t> order = AllOf(made.features());
    Shuffle(rng, std::span(order));
    // Some, those and more, and one that is in neither.
    const std::size_t large = 1 + rng.Below(samples - 1), small = rng.Below(large + 1);
    std::vector<std::size_t> few(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(small));
    std::vector<std::size_t> many(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(large));
    for (const PartitionObjective objective : kObjectives) {
      const auto gain = [&](std::vector<std::size_t> block) {
        const std::int64_t before = WorthOf(similarities, block, samples / 2, objective);
        block.push_back(order[large]);
        return WorthOf(similarities, block, samples / 2, objective) - before;
      };
      EXPECT_GE(gain(few), gain(many)) << NameOf(objective);
      if (objective == PartitionObjective::kFacilityLocation) {
        EXPECT_GE(gain(many), 0);
      }
    }
  }
}

// The most that the least of all blocks (or all together) can be worth, over every way to fill the quotas.
std::int64_t BestPossible(const DenseSimilarities& similarities, const std::vector<std::size_t>& quotas,
                          PartitionObjective objective, bool least) {
  std::vector<std::uint32_t> holder;
  for (std::size_t j = 0; j < quotas.size(); ++j)
    holder.insert(holder.end(), quotas[j], static_cast<std::uint32_t>(j));
  std::int64_t best = std::numeric_limits<std::int64_t>::min();
  do {
    std::int64_t sum = 0, smallest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t j = 0; j < quotas.size(); ++j) {
      const std::int64_t worth = WorthOf(similarities, Members({holder, {}, 0}, j), quotas[j], objective);
      sum += worth;
      smallest = std::min(smallest, worth);
    }
    best = std::max(best, least ? smallest : sum);
  } while (std::ranges::next_permutation(holder).found);
  return best;
}

TEST(FillBlocks, ComeNearTheBestOfAllWaysToFillTheQuotas) {
  constexpr int kTrials = 12;
  for (const PartitionObjective objective :
       {PartitionObjective::kFacilityLocation, PartitionObjective::kGraphCut}) {
    for (const BlockChoice choice : kChoices) {
      double of_sum = 0, of_least = 0, worst = 1;
      for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
        const ClusteredSamples made = MakeClusters(100 + trial, 9, 2, 1);
        const DenseSimilarities similarities = MakeSimilarities(made.features(), 3);
        const std::vector<std::size_t> quotas =
            trial % 2 == 0 ? std::vector<std::size_t>{3, 3, 3} : std::vector<std::size_t>{5, 2, 2};
        const ClassBlocks blocks = FillBlocks(similarities, quotas, objective, choice);
        const std::int64_t sum = std::accumulate(blocks.worth.begin(), blocks.worth.end(), std::int64_t{0});
        const double share = static_cast<double>(sum) /
                             static_cast<double>(BestPossible(similarities, quotas, objective, false));
        of_sum += share / kTrials;
        worst = std::min(worst, share);
        of_least += static_cast<double>(*std::ranges::min_element(blocks.worth)) /
                    static_cast<double>(BestPossible(similarities, quotas, objective, true)) / kTrials;
      }
      std::printf("%s, %s: %.4f of the best sum on average (%.4f at worst), %.4f of the best least block\n",
                  std::string(NameOf(objective)).c_str(), std::string(NameOf(choice)).c_str(), of_sum, worst,
                  of_least);
      EXPECT_GT(of_sum, 0.95);
      EXPECT_GT(worst, 0.5);  // No instance may be bad, either.
      EXPECT_GT(of_least, 0.85);
      EXPECT_LE(of_sum, 1.0);
      EXPECT_LE(of_least, 1.0);
    }
  }
}

TEST(FillBlocks, MatchedCutsComeNearTheLeastDiscrepancy) {
  // Worth may be negative, so what is compared is the sum of squared discrepancies, Σ_j mean of all − worth / quota²:
  // the greedy is to be nearer to the least of all ways than to their mean, which is what chance gets.
  constexpr int kTrials = 12;
  double found = 0, best = 0, chance = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const ClusteredSamples made = MakeClusters(200 + trial, 9, 2, 1);
    const DenseSimilarities similarities = MakeSimilarities(made.features(), 3);
    const std::vector<std::size_t> quotas = {5, 2, 2};
    std::int64_t all = 0;
    for (const std::int64_t sum : similarities.RowSums()) all += sum;
    const auto discrepancy = [&](const std::vector<std::uint32_t>& holder) {
      double sum = 0;
      for (std::size_t j = 0; j < quotas.size(); ++j) {
        const auto worth = static_cast<double>(
            WorthOf(similarities, Members({holder, {}, 0}, j), quotas[j], PartitionObjective::kMatchedCut));
        sum += static_cast<double>(all) / 81 - worth / static_cast<double>(quotas[j] * quotas[j]);
      }
      return sum / kAlike;
    };
    found += discrepancy(
        FillBlocks(similarities, quotas, PartitionObjective::kMatchedCut, BlockChoice::kFill).holder);
    std::vector<std::uint32_t> holder = {0, 0, 0, 0, 0, 1, 1, 2, 2};
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    int ways = 0;
    do {
      const double here = discrepancy(holder);
      least = std::min(least, here);
      sum += here;
      ++ways;
    } while (std::ranges::next_permutation(holder).found);
    EXPECT_EQ(ways, 756);
    best += least;
    chance += sum / ways;
  }
  std::printf(
      "matched-cut, fill: sum of squared discrepancies %.4f, the least possible %.4f, by chance %.4f\n",
      found / kTrials, best / kTrials, chance / kTrials);
  EXPECT_GE(found, best - 1e-3);
  EXPECT_LT(found - best, 0.5 * (chance - best));
}

}  // namespace
}  // namespace tributary::inline policy
