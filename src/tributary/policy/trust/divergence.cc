#include "tributary/policy/trust/divergence.h"

#include <algorithm>
#include <cmath>

#include "tributary/policy/trust/trust.h"

namespace tributary::inline policy {
namespace {

// Larger multiples say nothing more, and some medians are 0.
constexpr double kLargestPart = 1e30;

double PartOf(double amount, double median) {
  return amount > 0 ? std::min(amount / median, kLargestPart) : 0;
}

}  // namespace

double DivergenceGuard::Limit() const { return multiple_ * std::max(guess_, LowerMedian(state_.losses)); }

DivergenceGuard::Verdict DivergenceGuard::See(double loss) {
  if (loss <= Limit()) {
    state_.high = 0;
    state_.parts.clear();
    if (state_.losses.size() == kRounds) state_.losses.erase(state_.losses.begin());
    state_.losses.push_back(loss);
    return Verdict::kSound;
  }
  ++state_.high;
  return state_.high >= kInARow || !std::isfinite(loss) ? Verdict::kDiverged : Verdict::kHigh;
}

void DivergenceGuard::Note(std::span<const Contribution> applied) {
  if (state_.high > 0) return;
  std::vector<double> parameters, statistics;
  for (const Contribution& device : applied) {
    parameters.push_back(device.parameters);
    statistics.push_back(device.statistics);
  }
  const double median_of_parameters = LowerMedian(std::move(parameters));
  const double median_of_statistics = LowerMedian(std::move(statistics));
  for (const Contribution& device : applied) {
    double& part = state_.parts[device.device];
    part = std::max({part, PartOf(device.parameters, median_of_parameters),
                     PartOf(device.statistics, median_of_statistics)});
  }
}

std::vector<DeviceId> DivergenceGuard::Culprits(std::size_t most, bool outliers_only) const {
  std::vector<std::pair<double, DeviceId>> parts;
  for (const auto& [device, part] : state_.parts) parts.emplace_back(-part, device);
  std::ranges::sort(parts);
  std::vector<DeviceId> culprits;
  for (const auto& [part, device] : parts) {
    if (culprits.size() == most || (-part <= kOutlier && (outliers_only || !culprits.empty()))) break;
    culprits.push_back(device);
  }
  return culprits;
}

void DivergenceGuard::RolledBack() {
  state_.high = 0;
  state_.parts.clear();
}

}  // namespace tributary::inline policy
