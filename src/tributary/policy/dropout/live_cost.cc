#include "tributary/policy/dropout/live_cost.h"

#include <algorithm>
#include <cmath>

namespace tributary::inline policy {
namespace {

// Of the newest observation: what a device has changes quickly, and a step is long against the processor's turns.
constexpr double kNewest = 0.5;
constexpr double kLeastRate = 1e-6;

}  // namespace

void LiveCost::Observe(const CostMeasurement& seen) {
  if (!(seen.seconds > 0) || !std::isfinite(seen.seconds) || !(known_.Seconds(seen.features) > 0)) return;
  if (seen_.size() < kMost) {
    seen_.push_back(seen);
  } else {
    seen_[count_ % kMost] = seen;
  }
  ++count_;
  if (count_ < kEvery || count_ % kEvery == 0) Fit();
}

void LiveCost::Fit() {
  if (seen_.size() >= kEnough) {
    const auto same = [&](const CostMeasurement& one) {
      return one.features.macs == seen_.front().features.macs;
    };
    // Few that differ from the rest would be fitted to their noise.
    if (std::ranges::count_if(seen_, same) * 4 <= static_cast<std::ptrdiff_t>(3 * seen_.size())) {
      if (const auto fitted = FitCostModel(seen_); fitted.ok()) {
        model_ = *fitted;
        return;
      }
    }
  }
  std::vector<double> ratios;
  for (const CostMeasurement& one : seen_) ratios.push_back(one.seconds / known_.Seconds(one.features));
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  model_ = {known_.fixed * *middle, known_.per_mac * *middle, known_.per_byte * *middle};
}

void ProcessorShare::Observe(double processor_seconds, double seconds, std::optional<double> allowed) {
  if (!(processor_seconds > 0) || !(seconds > 0)) return;
  // What was seen before, as it would have been under this allowance.
  rate_ = std::max(kLeastRate, (1 - kNewest) * Rate(allowed) + kNewest * processor_seconds / seconds);
  allowed_ = allowed;
}

double ProcessorShare::Rate(std::optional<double> allowed) const {
  double rate = rate_;
  if (allowed && allowed_ && *allowed_ > 0) rate *= *allowed / *allowed_;
  if (allowed) rate = std::min(rate, *allowed);
  return std::max(kLeastRate, rate);
}

}  // namespace tributary::inline policy
