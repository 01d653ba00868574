#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tributary/explore/state.h"

namespace tributary::inline explore {

// The sub-networks of an exploration, and which of them deserve a closer look. Answers depend only on what
// was known when the generation, or its last step, began, so a resumed exploration gets the same answers.
class Candidates {
 public:
  using Kept = std::vector<std::int64_t>;
  // The cost of a sub-network that was added; called on demand.
  using CostOf = std::function<double(const Kept&)>;
  explicit Candidates(CostOf cost) : cost_(std::move(cost)) {}
  void Add(CandidateRecord candidate);
  const CandidateRecord* Find(const Kept& kept) const;
  CandidateRecord& At(const Kept& kept) { return all_.at(kept); }
  // Ordered by key, so that sums do not depend on the order of completion.
  const std::map<Kept, CandidateRecord>& all() const { return all_; }
  bool EvaluatedBefore(const Kept& kept, std::uint64_t generation) const;
  // The members of `screened` that deserve a full evaluation in this generation, based on earlier ones.
  std::vector<Kept> WorthEvaluating(std::span<const Kept> screened, std::uint64_t generation) const;
  // Evaluated candidates that would be on the front and were not confirmed in an earlier generation. Excludes
  // candidates not better than `untrained`.
  std::vector<Kept> WorthConfirming(std::uint64_t generation, double untrained) const;
  // The convergence of an evaluated candidate: as confirmed up to this generation, otherwise the evaluated
  // value plus the mean increase that confirmation has caused (selection bias).
  double Convergence(const CandidateRecord& candidate, std::uint64_t generation) const;

 private:
  double RiseOfConfirmed(std::uint64_t generation) const;

  CostOf cost_;
  std::map<Kept, CandidateRecord> all_;
};

}  // namespace tributary::inline explore
