#include "tributary/policy/dropout/processor_share.h"

#include <algorithm>

namespace tributary {
namespace {

// Of the newest observation: what a device has changes quickly, and a step is long against the processor's turns.
constexpr double kNewest = 0.5;
constexpr double kLeastRate = 1e-6;

}  // namespace

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

}  // namespace tributary
