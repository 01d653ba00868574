#include "tributary/policy/partitioning/partition.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "tributary/base/apportion.h"
#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
constexpr double kNothing = 1e-6;

// Quotas with movable odd samples: at most one per worker and class, if its exact share is not an integer.
class OddSamples {
 public:
  OddSamples(std::span<const std::size_t> class_sizes, std::span<const double> speeds)
      : workers_(speeds.size()) {
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    for (const std::size_t size : class_sizes) {
      quotas_.push_back(DivideByShares(size, speeds));
      std::vector<double>& exact = exact_.emplace_back();
      for (const double speed : speeds) exact.push_back(static_cast<double>(size) * (speed / sum));
    }
  }

  std::vector<std::size_t> Totals() const {
    std::vector<std::size_t> totals(workers_, 0);
    for (const auto& of_class : quotas_) {
      for (std::size_t j = 0; j < workers_; ++j) totals[j] += of_class[j];
    }
    return totals;
  }

  // Moves one sample from `from` to `to`, along the shortest chain of workers. False if impossible.
  bool Move(std::size_t from, std::size_t to) {
    std::vector<std::size_t> before(workers_, kNobody);
    std::deque<std::size_t> reached = {from};
    before[from] = from;
    while (!reached.empty() && before[to] == kNobody) {
      const std::size_t worker = reached.front();
      reached.pop_front();
      for (std::size_t next = 0; next < workers_; ++next) {
        if (before[next] != kNobody || !CheapestClass(worker, next)) continue;
        before[next] = worker;
        reached.push_back(next);
      }
    }
    if (before[to] == kNobody) return false;
    for (std::size_t worker = to; worker != from; worker = before[worker]) {
      auto& of_class = quotas_[*CheapestClass(before[worker], worker)];
      --of_class[before[worker]];
      ++of_class[worker];
    }
    return true;
  }

  std::vector<std::vector<std::size_t>> Take() && { return std::move(quotas_); }

 private:
  // The class whose odd sample can move from `from` to `to` with the smallest deviation from exact shares.
  std::optional<std::size_t> CheapestClass(std::size_t from, std::size_t to) const {
    std::optional<std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < quotas_.size(); ++c) {
      const double over = static_cast<double>(quotas_[c][from]) - exact_[c][from];
      const double under = exact_[c][to] - static_cast<double>(quotas_[c][to]);
      // Shares that are integers up to rounding have no odd sample.
      if (over <= kNothing || under <= kNothing || -over - under >= least) continue;
      least = -over - under;
      best = c;
    }
    return best;
  }

  std::size_t workers_;
  std::vector<std::vector<std::size_t>> quotas_;
  std::vector<std::vector<double>> exact_;
};

}  // namespace

Status CheckLabels(std::span<const std::int32_t> labels, int classes) {
  if (labels.empty()) return InvalidArgument("there are no samples to divide");
  if (labels.size() > std::numeric_limits<std::uint32_t>::max()) {
    return InvalidArgument("found " + std::to_string(labels.size()) +
                           " samples; at most 4294967295 can be divided");
  }
  if (classes < 1) {
    return InvalidArgument("the number of classes must be at least 1, found " + std::to_string(classes));
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < classes) continue;
    return InvalidArgument("sample " + std::to_string(i) + " has label " + std::to_string(labels[i]) +
                           "; labels lie in 0 to " + std::to_string(classes - 1));
  }
  return OkStatus();
}

SamplesByClass GroupByClass(std::span<const std::int32_t> labels, int classes) {
  SamplesByClass groups(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    TRIBUTARY_CHECK(labels[i] >= 0 && labels[i] < classes);
    groups[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::uint32_t>(i));
  }
  return groups;
}

void Deal(std::span<const std::uint32_t> samples, std::span<const std::size_t> counts,
          std::span<const std::size_t> holders, Rng& rng, Partition& partition) {
  TRIBUTARY_CHECK(counts.size() == holders.size());
  std::vector<std::uint32_t> shuffled(samples.begin(), samples.end());
  Shuffle(rng, std::span(shuffled));
  auto next = shuffled.begin();
  for (std::size_t i = 0; i < holders.size(); ++i) {
    TRIBUTARY_CHECK(counts[i] <= static_cast<std::size_t>(shuffled.end() - next));
    const auto end = next + static_cast<std::ptrdiff_t>(counts[i]);
    auto& device = partition[holders[i]];
    device.insert(device.end(), next, end);
    next = end;
  }
  TRIBUTARY_CHECK(next == shuffled.end());
}

Partition WithSortedIndices(Partition partition) {
  for (auto& device : partition) std::ranges::sort(device);
  return partition;
}

std::vector<std::vector<std::int64_t>> CountClasses(const Partition& partition,
                                                    std::span<const std::int32_t> labels, int classes) {
  std::vector<std::vector<std::int64_t>> counts(
      partition.size(), std::vector<std::int64_t>(static_cast<std::size_t>(classes), 0));
  for (std::size_t device = 0; device < partition.size(); ++device) {
    for (const std::uint32_t sample : partition[device])
      ++counts[device][static_cast<std::size_t>(labels[sample])];
  }
  return counts;
}

double MeanSkew(const std::vector<std::vector<std::int64_t>>& counts) {
  if (counts.empty()) return 0;
  std::vector<double> all(counts.front().size(), 0);
  for (const auto& device : counts) {
    for (std::size_t c = 0; c < device.size(); ++c) all[c] += static_cast<double>(device[c]);
  }
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  double sum = 0;
  int devices = 0;
  for (const auto& device : counts) {
    const auto samples = static_cast<double>(std::accumulate(device.begin(), device.end(), std::int64_t{0}));
    if (samples == 0) continue;
    ++devices;
    for (std::size_t c = 0; c < device.size(); ++c) {
      sum += std::abs(static_cast<double>(device[c]) / samples - all[c] / total);
    }
  }
  return devices > 0 ? sum / devices : 0;
}

Status CheckSpeeds(std::span<const double> speeds, std::size_t samples) {
  if (speeds.empty()) return InvalidArgument("there are no speeds; each worker needs one, above 0");
  for (std::size_t j = 0; j < speeds.size(); ++j) {
    if (std::isfinite(speeds[j]) && speeds[j] > 0 && speeds[j] <= 1e100) continue;
    return InvalidArgument("the speed of worker " + std::to_string(j) + " is " + std::to_string(speeds[j]) +
                           "; speeds are finite numbers above 0, and only their ratios matter");
  }
  if (speeds.size() > samples) {
    return InvalidArgument("there are " + std::to_string(speeds.size()) + " workers for " +
                           std::to_string(samples) + (samples == 1 ? " sample" : " samples") +
                           "; each needs at least one");
  }
  const std::vector<std::size_t> totals = DivideByShares(samples, speeds);
  for (std::size_t j = 0; j < speeds.size(); ++j) {
    if (totals[j] > 0) continue;
    return InvalidArgument("worker " + std::to_string(j) + " of speed " + std::to_string(speeds[j]) +
                           " would get none of the " + std::to_string(samples) +
                           " samples; leave it out, or give more samples");
  }
  return OkStatus();
}

std::vector<std::vector<std::size_t>> SpeedQuotas(std::span<const std::size_t> class_sizes,
                                                  std::span<const double> speeds) {
  OddSamples odd(class_sizes, speeds);
  const std::size_t samples = std::accumulate(class_sizes.begin(), class_sizes.end(), std::size_t{0});
  const std::vector<std::size_t> wanted = DivideByShares(samples, speeds);
  std::vector<std::size_t> totals = odd.Totals();
  for (std::size_t from = 0; from < speeds.size(); ++from) {
    for (std::size_t to = 0; to < speeds.size() && totals[from] > wanted[from]; ++to) {
      while (totals[from] > wanted[from] && totals[to] < wanted[to] && odd.Move(from, to)) {
        --totals[from];
        ++totals[to];
      }
    }
  }
  return std::move(odd).Take();
}

}  // namespace tributary::inline policy
