#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tributary/explore/state.h"

namespace tributary::inline explore {

// The sub-networks that an exploration has looked at, and who of them is to be looked at more closely. What it answers
// about a generation depends on what was known when the generation, or its last step, began: whoever is interrupted
// and asks again gets the same answer.
class Candidates {
 public:
  using Kept = std::vector<std::int64_t>;
  // What a sub-network costs; asked whenever it is needed, of any that was added.
  using CostOf = std::function<double(const Kept&)>;
  explicit Candidates(CostOf cost) : cost_(std::move(cost)) {}

  void Add(CandidateRecord candidate);
  const CandidateRecord* Find(const Kept& kept) const;
  CandidateRecord& At(const Kept& kept) { return all_.at(kept); }
  // In the order of what they keep: sums over them do not depend on who was done first.
  const std::map<Kept, CandidateRecord>& all() const { return all_; }

  bool EvaluatedBefore(const Kept& kept, std::uint64_t generation) const;
  // Those of `screened` that are worth an evaluation in this generation, by what earlier ones have taught.
  std::vector<Kept> WorthEvaluating(std::span<const Kept> screened, std::uint64_t generation) const;
  // Those evaluated that would be on the front and were not confirmed in an earlier generation. What leaves the network
  // no better than `untrained` would not.
  std::vector<Kept> WorthConfirming(std::uint64_t generation, double untrained) const;
  // The convergence of an evaluated candidate: as confirmed up to this generation or, while it was not, what it would be
  // if it turned out worse by as much as others did on average, who also looked good before.
  double Convergence(const CandidateRecord& candidate, std::uint64_t generation) const;

 private:
  double RiseOfConfirmed(std::uint64_t generation) const;

  CostOf cost_;
  std::map<Kept, CandidateRecord> all_;
};

}  // namespace tributary::inline explore
