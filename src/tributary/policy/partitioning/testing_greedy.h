#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tributary/policy/partitioning/class_greedy.h"

namespace tributary::inline policy {

// The greedy as it is written down, for tests and benchmarks to hold class_greedy.h against: at every step every sample
// that is left is asked what it would gain. It keeps what each block's best is, as anybody would, and shares with what
// it checks only the similarities.
class ReferenceGreedy {
 public:
  ReferenceGreedy(const DenseSimilarities& similarities, std::span<const std::size_t> quotas,
                  PartitionObjective objective, BlockChoice choice)
      : similarities_(similarities),
        quotas_(quotas),
        objective_(objective),
        choice_(choice),
        best_(quotas.size(), std::vector<Similarity>(similarities.size(), 0)),
        members_(quotas.size()),
        sums_(similarities.size(), 0) {
    for (std::size_t v = 0; v < sums_.size(); ++v) {
      for (const Similarity s : similarities.Row(v)) sums_[v] += s;
    }
  }

  ClassBlocks Run() {
    constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
    ClassBlocks result;
    result.holder.assign(similarities_.size(), kFree);
    result.worth.assign(quotas_.size(), 0);
    for (std::size_t placed = 0; placed < similarities_.size(); ++placed) {
      const std::size_t block = Next(result.worth);
      std::size_t best = similarities_.size();
      std::int64_t most = 0;
      for (std::size_t v = 0; v < similarities_.size(); ++v) {
        if (result.holder[v] != kFree) continue;
        const std::int64_t gain = Gain(block, v);
        ++result.evaluations;
        if (best < similarities_.size() && gain <= most) continue;
        best = v;
        most = gain;
      }
      result.holder[best] = static_cast<std::uint32_t>(block);
      result.worth[block] += most;
      members_[block].push_back(best);
      for (std::size_t u = 0; u < similarities_.size(); ++u) {
        best_[block][u] = std::max(best_[block][u], similarities_.Row(best)[u]);
      }
    }
    return result;
  }

 private:
  std::size_t Next(const std::vector<std::int64_t>& worth) const {
    std::vector<std::size_t> open;
    for (std::size_t j = 0; j < quotas_.size(); ++j) {
      if (members_[j].size() < quotas_[j]) open.push_back(j);
    }
    const auto fill = [&](std::size_t j) {
      return static_cast<long double>(members_[j].size()) / static_cast<long double>(quotas_[j]);
    };
    return *std::min_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
      return choice_ == BlockChoice::kRaw ? worth[a] < worth[b] : fill(a) < fill(b);
    });
  }

  std::int64_t Gain(std::size_t block, std::size_t v) const {
    const std::span<const Similarity> row = similarities_.Row(v);
    std::int64_t gain = 0;
    if (objective_ == PartitionObjective::kFacilityLocation) {
      const std::vector<Similarity>& best = best_[block];
      for (std::size_t u = 0; u < row.size(); ++u) gain += row[u] > best[u] ? row[u] - best[u] : 0;
      return gain;
    }
    for (const std::size_t a : members_[block]) gain -= 2 * std::int64_t{row[a]};
    return gain + CutWeight(objective_, sums_[v], quotas_[block], row.size()) - row[v];
  }

  const DenseSimilarities& similarities_;
  const std::span<const std::size_t> quotas_;
  const PartitionObjective objective_;
  const BlockChoice choice_;
  std::vector<std::vector<Similarity>> best_;
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::int64_t> sums_;
};

}  // namespace tributary::inline policy
