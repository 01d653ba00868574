#include "tributary/policy/streaming/stream_batch.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tributary/base/names.h"

namespace tributary {

std::string_view NameOf(BatchRule rule) { return rule == BatchRule::kFixed ? "fixed" : "stream-rate"; }

StatusOr<BatchRule> ParseBatchRule(std::string_view name) {
  std::vector<std::string> names;
  for (const BatchRule rule : kBatchRules) {
    if (NameOf(rule) == name) return rule;
    names.emplace_back(NameOf(rule));
  }
  return UnknownName("batch rule", std::string(name), names);
}

StreamBatch NextBatch(const StreamBatchOptions& options, std::size_t fixed, SamplesPerSecond rate) {
  StreamBatch batch{fixed, Duration::max()};
  if (!(rate.value > 0)) return batch;
  if (options.rule == BatchRule::kStreamRate) {
    const double samples = std::round(rate.value * ToSeconds(options.window));
    batch.samples = static_cast<std::size_t>(
        std::clamp(samples, static_cast<double>(options.smallest), static_cast<double>(options.largest)));
  }
  constexpr double kLongest = 9e9;
  const double seconds = static_cast<double>(batch.samples) / rate.value;
  if (seconds < kLongest) batch.wait = FromSeconds(seconds);
  return batch;
}

}  // namespace tributary
