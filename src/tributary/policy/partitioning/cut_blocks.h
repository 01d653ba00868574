#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/policy/partitioning/objective.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary {

// The blocks of a class under graph-cut or matched-cut (see class_greedy.h), with every gain of every block up to
// date.
class CutBlocks {
 public:
  // `similarities` must outlive it.
  CutBlocks(const Similarities& similarities, PartitionObjective objective,
            std::span<const std::size_t> quotas);

  // Adds to the block the sample that gains it most, of those that no block has, and returns it.
  std::size_t Take(std::size_t block);

  std::span<const std::int64_t> worth() const { return worth_; }
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  const Similarities& similarities_;
  std::vector<std::vector<std::int64_t>> gains_;  // Of each block, for each sample.
  std::vector<std::int64_t> barred_;              // 0, or far below any gain for samples that are taken.
  std::vector<std::int64_t> worth_;
  std::vector<Similarity> scratch_;
  std::size_t left_;
  std::uint64_t evaluations_ = 0;
};

}  // namespace tributary
