#include "tributary/policy/partitioning/class_greedy.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/policy/partitioning/wide_loops.h"

namespace tributary::inline policy {
namespace {

TRIBUTARY_WIDE_LOOPS
std::uint64_t SumAbove(const Similarity* __restrict row, const Similarity* __restrict best,
                       std::size_t count) {
  constexpr std::size_t kPart = 65536;  // a sum of this many fits 32 bits
  std::uint64_t sum = 0;
  for (std::size_t from = 0; from < count; from += kPart) {
    const std::size_t end = from + kPart < count ? from + kPart : count;
    std::uint32_t part = 0;
    for (std::size_t i = from; i < end; ++i) {
      const Similarity higher = row[i] > best[i] ? row[i] : best[i];
      part += static_cast<std::uint32_t>(static_cast<Similarity>(higher - best[i]));
    }
    sum += part;
  }
  return sum;
}

TRIBUTARY_WIDE_LOOPS
void RaiseTo(const Similarity* __restrict row, Similarity* __restrict best, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) best[i] = row[i] > best[i] ? row[i] : best[i];
}

// RowGains over nearest samples only.
class NearestGains {
 public:
  explicit NearestGains(const NearestSimilarities& similarities) : similarities_(similarities) {}
  std::size_t size() const { return similarities_.size(); }

  std::uint64_t Gain(std::size_t sample, std::span<const Similarity> best) const {
    std::uint64_t sum = 0;
    for (const auto& near : similarities_.NearTo(sample)) {
      if (near.similarity > best[near.sample])
        sum += static_cast<std::uint64_t>(near.similarity - best[near.sample]);
    }
    return sum;
  }

  void Raise(std::size_t sample, std::span<Similarity> best) const {
    for (const auto& near : similarities_.NearTo(sample)) {
      best[near.sample] = std::max(best[near.sample], near.similarity);
    }
  }

 private:
  const NearestSimilarities& similarities_;
};

// The blocks of a class under facility location, with a lazy heap of gains each.
template <typename Gains>
class FacilityBlocks {
 public:
  // `gains` must outlive it.
  FacilityBlocks(const Gains& gains, std::size_t blocks)
      : gains_(gains), taken_(gains.size(), false), best_(blocks), heaps_(blocks), worth_(blocks, 0) {
    // For an empty block, the gain of a sample is its row sum, for any block; sorted keys are a heap.
    const std::vector<Similarity> nothing(gains.size(), 0);
    for (std::size_t i = 0; i < gains.size(); ++i) first_.push_back(KeyOf(gains.Gain(i, nothing), i));
    std::ranges::sort(first_, std::greater<>());
    evaluations_ = gains.size();
  }

  // Adds the free sample of largest gain to the block, and returns it.
  std::size_t Take(std::size_t block) {
    std::vector<std::uint64_t>& heap = heaps_[block];
    std::vector<Similarity>& best = best_[block];
    if (best.empty()) {
      best.assign(gains_.size(), 0);
      heap = first_;
      while (taken_[SampleOf(heap.front())]) Pop(heap);
      return Give(block, heap.front());
    }
    while (true) {
      TRIBUTARY_CHECK(!heap.empty());
      const std::size_t sample = SampleOf(heap.front());
      if (taken_[sample]) {
        Pop(heap);
        continue;
      }
      const std::uint64_t key = KeyOf(gains_.Gain(sample, best), sample);
      ++evaluations_;
      // The other gains are at most their old values, which are below this one.
      if (key >= Second(heap)) return Give(block, key);
      heap.front() = key;
      SiftDown(heap);
    }
  }

  std::span<const std::int64_t> worth() const { return worth_; }
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  // Orders by gain, then by lower index.
  static constexpr unsigned kNumberBits = 24;
  static constexpr std::uint64_t kNumbers = (std::uint64_t{1} << kNumberBits) - 1;
  static std::uint64_t KeyOf(std::uint64_t gain, std::size_t sample) {
    return gain << kNumberBits | (kNumbers - sample);
  }
  static std::size_t SampleOf(std::uint64_t key) {
    return static_cast<std::size_t>(kNumbers - (key & kNumbers));
  }

  static std::uint64_t Second(const std::vector<std::uint64_t>& heap) {
    std::uint64_t second = heap.size() > 1 ? heap[1] : 0;
    if (heap.size() > 2) second = std::max(second, heap[2]);
    return second;
  }

  // Restores the heap after a change of its top.
  static void SiftDown(std::vector<std::uint64_t>& heap) {
    const std::uint64_t key = heap.front();
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap.size(); child = 2 * at + 1) {
      if (child + 1 < heap.size() && heap[child + 1] > heap[child]) ++child;
      if (heap[child] <= key) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = key;
  }

  static void Pop(std::vector<std::uint64_t>& heap) {
    heap.front() = heap.back();
    heap.pop_back();
    if (!heap.empty()) SiftDown(heap);
  }

  std::size_t Give(std::size_t block, std::uint64_t key) {
    const std::size_t sample = SampleOf(key);
    Pop(heaps_[block]);
    taken_[sample] = true;
    worth_[block] += static_cast<std::int64_t>(key >> kNumberBits);
    gains_.Raise(sample, best_[block]);
    return sample;
  }

  const Gains& gains_;
  std::vector<bool> taken_;
  std::vector<std::vector<Similarity>> best_;      // per block and sample of the class; empty: all 0
  std::vector<std::uint64_t> first_;               // keys of an empty block, descending
  std::vector<std::vector<std::uint64_t>> heaps_;  // keys when last computed
  std::vector<std::int64_t> worth_;
  std::uint64_t evaluations_ = 0;
};

// Gains are within about 2^48 of zero.
constexpr std::int64_t kTaken = -(std::int64_t{1} << 60);

TRIBUTARY_WIDE_LOOPS
std::int64_t LargestGain(const std::int64_t* __restrict gains, const std::int64_t* __restrict barred,
                         std::size_t count) {
  std::int64_t largest = 2 * kTaken;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t gain = gains[i] + barred[i];
    largest = gain > largest ? gain : largest;
  }
  return largest;
}

TRIBUTARY_WIDE_LOOPS
void TakeOffTwice(const Similarity* __restrict row, std::size_t count, std::int64_t* __restrict gains) {
  for (std::size_t i = 0; i < count; ++i) gains[i] -= 2 * std::int64_t{row[i]};
}

// The blocks of a class under graph-cut or matched-cut, with all gains up to date.
class CutBlocks {
 public:
  // `similarities` must outlive it.
  CutBlocks(const Similarities& similarities, PartitionObjective objective,
            std::span<const std::size_t> quotas)
      : similarities_(similarities),
        barred_(similarities.size(), 0),
        worth_(quotas.size(), 0),
        scratch_(ScratchFor(similarities.size())),
        left_(similarities.size()) {
    const std::vector<std::int64_t> sums = similarities.RowSums();
    for (const std::size_t quota : quotas) {
      std::vector<std::int64_t>& gains = gains_.emplace_back();
      if (quota == 0) continue;  // never chooses
      gains.resize(sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        gains[i] = CutWeight(objective, sums[i], quota, sums.size()) - kAlike;
      }
    }
    evaluations_ = left_;
  }

  // Adds the free sample of largest gain to the block, and returns it.
  std::size_t Take(std::size_t block) {
    std::vector<std::int64_t>& gains = gains_[block];
    const std::int64_t largest = LargestGain(gains.data(), barred_.data(), gains.size());
    std::size_t sample = 0;
    while (gains[sample] + barred_[sample] != largest) ++sample;
    TRIBUTARY_CHECK(barred_[sample] == 0);
    barred_[sample] = kTaken;
    worth_[block] += largest;
    const std::span<const Similarity> row = similarities_.Row(sample, scratch_);
    TakeOffTwice(row.data(), row.size(), gains.data());
    evaluations_ += --left_;
    return sample;
  }

  std::span<const std::int64_t> worth() const { return worth_; }
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  const Similarities& similarities_;
  std::vector<std::vector<std::int64_t>> gains_;  // per block and sample
  std::vector<std::int64_t> barred_;              // 0, or far below any gain for samples that are taken
  std::vector<std::int64_t> worth_;
  std::vector<Similarity> scratch_;
  std::size_t left_;
  std::uint64_t evaluations_ = 0;
};

// `blocks` has Take(block), which adds the free sample of largest gain, and worth() of each block.
template <typename Blocks>
ClassBlocks FillGreedily(Blocks& blocks, std::size_t samples, std::span<const std::size_t> quotas,
                         BlockChoice choice) {
  TRIBUTARY_CHECK(std::accumulate(quotas.begin(), quotas.end(), std::size_t{0}) == samples);
  TRIBUTARY_CHECK(samples <= kMostOfClass);
  ClassBlocks result;
  result.holder.assign(samples, 0);
  std::vector<std::size_t> held(quotas.size(), 0);
  for (std::size_t placed = 0; placed < samples; ++placed) {
    const std::size_t block = ChooseBlock(choice, quotas, held, blocks.worth());
    result.holder[blocks.Take(block)] = static_cast<std::uint32_t>(block);
    ++held[block];
  }
  result.worth.assign(blocks.worth().begin(), blocks.worth().end());
  result.evaluations = blocks.evaluations();
  return result;
}

}  // namespace

std::uint64_t RowGains::Gain(std::size_t sample, std::span<const Similarity> best) const {
  return SumAbove(similarities_.Row(sample, scratch_).data(), best.data(), best.size());
}

void RowGains::Raise(std::size_t sample, std::span<Similarity> best) const {
  RaiseTo(similarities_.Row(sample, scratch_).data(), best.data(), best.size());
}

ClassBlocks FillBlocks(const Similarities& similarities, std::span<const std::size_t> quotas,
                       PartitionObjective objective, BlockChoice choice) {
  if (objective == PartitionObjective::kFacilityLocation) {
    const RowGains gains(similarities);
    FacilityBlocks<RowGains> blocks(gains, quotas.size());
    return FillGreedily(blocks, similarities.size(), quotas, choice);
  }
  CutBlocks blocks(similarities, objective, quotas);
  return FillGreedily(blocks, similarities.size(), quotas, choice);
}

ClassBlocks FillBlocks(const NearestSimilarities& similarities, std::span<const std::size_t> quotas,
                       BlockChoice choice) {
  const NearestGains gains(similarities);
  FacilityBlocks<NearestGains> blocks(gains, quotas.size());
  return FillGreedily(blocks, similarities.size(), quotas, choice);
}

std::size_t GreedyBytesFor(std::size_t samples, std::size_t blocks, PartitionObjective objective) {
  const std::size_t each = objective == PartitionObjective::kFacilityLocation
                               ? sizeof(Similarity) + sizeof(std::uint64_t)
                               : sizeof(std::int64_t);
  return samples * (blocks * each + 4 * sizeof(std::uint64_t));
}

std::int64_t CutWeight(PartitionObjective objective, std::int64_t row_sum, std::size_t quota,
                       std::size_t samples) {
  if (objective == PartitionObjective::kGraphCut) return row_sum;
  // At most 4 · 2^(16 + 22) · 2^22, rounded half up.
  const auto whole = static_cast<std::int64_t>(samples);
  return (4 * row_sum * static_cast<std::int64_t>(quota) + whole) / (2 * whole);
}

std::string_view NameOf(PartitionObjective objective) {
  constexpr std::string_view kNames[] = {"facility-location", "graph-cut", "matched-cut"};
  return kNames[static_cast<std::size_t>(objective)];
}

std::string_view NameOf(BlockChoice choice) { return choice == BlockChoice::kRaw ? "raw" : "fill"; }

StatusOr<PartitionObjective> ParsePartitionObjective(std::string_view name) {
  return ParseName("objective", kPartitionObjectives, name);
}

StatusOr<BlockChoice> ParseBlockChoice(std::string_view name) {
  return ParseName("choice", kBlockChoices, name);
}

std::size_t ChooseBlock(BlockChoice choice, std::span<const std::size_t> quotas,
                        std::span<const std::size_t> held, std::span<const std::int64_t> worth) {
  std::size_t best = quotas.size();
  for (std::size_t j = 0; j < quotas.size(); ++j) {
    if (held[j] == quotas[j]) continue;
    if (best == quotas.size()) {
      best = j;
      continue;
    }
    const bool less = choice == BlockChoice::kRaw ? worth[j] < worth[best]
                                                  : held[j] * quotas[best] < held[best] * quotas[j];
    if (less) best = j;
  }
  TRIBUTARY_CHECK(best < quotas.size());
  return best;
}

}  // namespace tributary::inline policy
