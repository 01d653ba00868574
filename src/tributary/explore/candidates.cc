#include "tributary/explore/candidates.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/policy/dropout/pareto.h"
#include "tributary/policy/dropout/screening.h"

namespace tributary::inline explore {
namespace {

bool ConfirmedUpTo(const CandidateRecord& candidate, std::uint64_t generation) {
  return candidate.confirmed && candidate.confirmed->generation <= generation;
}

}  // namespace

void Candidates::Add(CandidateRecord candidate) {
  const Kept kept = candidate.kept;
  all_.insert_or_assign(kept, std::move(candidate));
}

const CandidateRecord* Candidates::Find(const Kept& kept) const {
  const auto found = all_.find(kept);
  return found == all_.end() ? nullptr : &found->second;
}

bool Candidates::EvaluatedBefore(const Kept& kept, std::uint64_t generation) const {
  const CandidateRecord* found = Find(kept);
  return found != nullptr && found->full && found->full->generation < generation;
}

std::vector<Candidates::Kept> Candidates::WorthEvaluating(std::span<const Kept> screened,
                                                          std::uint64_t generation) const {
  std::vector<FullyEvaluated> known;
  for (const auto& [kept, candidate] : all_) {
    if (!EvaluatedBefore(kept, generation)) continue;
    known.push_back({cost_(kept), candidate.screened, candidate.full->convergence});
  }
  std::vector<ScreenedOnly> asked;
  for (const Kept& kept : screened) asked.push_back({cost_(kept), all_.at(kept).screened});
  const std::vector<bool> worth = tributary::WorthEvaluating(known, asked);
  std::vector<Kept> left;
  for (std::size_t i = 0; i < screened.size(); ++i) {
    if (worth[i]) left.push_back(screened[i]);
  }
  return left;
}

double Candidates::RiseOfConfirmed(std::uint64_t generation) const {
  double sum = 0, count = 0;
  for (const auto& [kept, candidate] : all_) {
    if (!ConfirmedUpTo(candidate, generation)) continue;
    sum += candidate.confirmed->convergence - candidate.full->convergence;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double Candidates::Convergence(const CandidateRecord& candidate, std::uint64_t generation) const {
  TRIBUTARY_CHECK(candidate.full.has_value());
  if (ConfirmedUpTo(candidate, generation)) return candidate.confirmed->convergence;
  return std::max(0.0, candidate.full->convergence + RiseOfConfirmed(generation));
}

std::vector<Candidates::Kept> Candidates::WorthConfirming(std::uint64_t generation, double untrained) const {
  const auto confirmed_before = [&](const CandidateRecord& candidate) {
    return generation > 0 && ConfirmedUpTo(candidate, generation - 1);
  };
  const double rise = generation > 0 ? RiseOfConfirmed(generation - 1) : 0;
  std::vector<const CandidateRecord*> those;
  std::vector<Objectives> objectives;
  for (const auto& [kept, candidate] : all_) {
    if (!candidate.full) continue;
    const double convergence =
        confirmed_before(candidate) ? candidate.confirmed->convergence : candidate.full->convergence + rise;
    if (convergence >= untrained) continue;
    those.push_back(&candidate);
    objectives.push_back({cost_(kept), convergence});
  }
  std::vector<Kept> worth;
  for (const std::size_t on_front : NonDominated(objectives)) {
    if (!confirmed_before(*those[on_front])) worth.push_back(those[on_front]->kept);
  }
  return worth;
}

}  // namespace tributary::inline explore
