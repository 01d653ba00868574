#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary {

// How much more alike a block's best would be, summed over the class, with one sample more. `best` holds for each
// sample of the class how alike the block's most similar one is.
class RowGains {
 public:
  explicit RowGains(const Similarities& similarities)
      : similarities_(similarities), scratch_(ScratchFor(similarities.size())) {}
  std::size_t size() const { return similarities_.size(); }
  std::uint64_t Gain(std::size_t sample, std::span<const Similarity> best) const;
  // Takes the sample into `best`.
  void Raise(std::size_t sample, std::span<Similarity> best) const;

 private:
  const Similarities& similarities_;
  mutable std::vector<Similarity> scratch_;
};

// The same over nearest samples alone.
class NearestGains {
 public:
  explicit NearestGains(const NearestSimilarities& similarities) : similarities_(similarities) {}
  std::size_t size() const { return similarities_.size(); }
  std::uint64_t Gain(std::size_t sample, std::span<const Similarity> best) const;
  void Raise(std::size_t sample, std::span<Similarity> best) const;

 private:
  const NearestSimilarities& similarities_;
};

// The blocks of a class under facility location (see class_greedy.h): a lazy heap of gains for each.
template <typename Gains>
class FacilityBlocks {
 public:
  // `gains` must outlive it.
  FacilityBlocks(const Gains& gains, std::size_t blocks)
      : gains_(gains), taken_(gains.size(), false), best_(blocks), heaps_(blocks), worth_(blocks, 0) {
    // An empty block gains from each sample its whole row, whichever block it is; sorted, they are a heap.
    const std::vector<Similarity> nothing(gains.size(), 0);
    for (std::size_t i = 0; i < gains.size(); ++i) first_.push_back(KeyOf(gains.Gain(i, nothing), i));
    std::ranges::sort(first_, std::greater<>());
    evaluations_ = gains.size();
  }

  // Adds to the block the sample that gains it most, of those that no block has, and returns it.
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
      // Others' gains are at most what they were, and are below this one's.
      if (key >= Second(heap)) return Give(block, key);
      heap.front() = key;
      SiftDown(heap);
    }
  }

  std::span<const std::int64_t> worth() const { return worth_; }
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  // Larger for larger gains, and for lower numbers among equal ones.
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

  // Puts the top where it belongs.
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
  std::vector<std::vector<Similarity>> best_;  // Of each block, for each sample of the class. Empty: all 0.
  std::vector<std::uint64_t> first_;           // Keys of an empty block, descending.
  std::vector<std::vector<std::uint64_t>> heaps_;  // Keys as they were when last computed.
  std::vector<std::int64_t> worth_;
  std::uint64_t evaluations_ = 0;
};

}  // namespace tributary
