#include "tributary/policy/sampling/label_shares.h"

namespace tributary {

LabelShares::LabelShares(const SamplingProblem& problem) {
  const auto& counts = problem.label_counts;
  if (!counts.empty()) classes_ = counts[0].size();
  ends_.reserve(problem.sizes.size());
  std::vector<double> amounts;
  amounts.reserve(problem.sizes.size());
  for (std::size_t client = 0; client < problem.sizes.size(); ++client) {
    const auto size = static_cast<double>(problem.sizes[client]);
    amounts.push_back(size);
    if (size > 0 && counts.empty()) shares_.push_back({0, 1.0});
    for (std::uint32_t label = 0; size > 0 && !counts.empty() && label < classes_; ++label) {
      if (counts[client][label] > 0)
        shares_.push_back({label, static_cast<double>(counts[client][label]) / size});
    }
    ends_.push_back(shares_.size());
  }
  overall_ = Pooled(amounts);
}

std::vector<double> LabelShares::Pooled(std::span<const double> amounts) const {
  std::vector<double> pooled(classes_, 0.0);
  double total = 0;
  for (std::size_t client = 0; client < amounts.size(); ++client) {
    if (!(amounts[client] > 0)) continue;
    total += amounts[client];
    for (const Share& share : of(client)) pooled[share.label] += amounts[client] * share.share;
  }
  for (double& share : pooled) share = total > 0 ? share / total : 0.0;
  return pooled;
}

}  // namespace tributary
