#include "tributary/policy/trust/trust.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tributary::inline policy {

double LowerMedian(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double LimitOf(double multiple, std::vector<double> values) {
  const double limit = multiple * LowerMedian(std::move(values));
  return limit > 0 ? limit : std::numeric_limits<double>::infinity();
}

void LimitSizes(double multiple, SamplingProblem& problem) {
  std::vector<double> sizes;
  for (const std::int64_t size : problem.sizes) {
    if (size > 0) sizes.push_back(static_cast<double>(size));
  }
  const double limit = LimitOf(multiple, std::move(sizes));
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    const std::int64_t claimed = problem.sizes[i];
    if (static_cast<double>(claimed) <= limit) continue;
    const auto size = static_cast<std::int64_t>(limit);
    problem.sizes[i] = size;
    if (i >= problem.label_counts.size()) continue;
    auto& counts = problem.label_counts[i];
    if (std::accumulate(counts.begin(), counts.end(), 0.0) != static_cast<double>(claimed)) continue;
    // Borders between classes move in proportion, so that what is rounded off a class goes to the next.
    std::int64_t end = 0, begin = 0;
    for (std::int64_t& count : counts) {
      end += count;
      const auto scaled = static_cast<std::int64_t>(
          std::floor(static_cast<double>(end) / static_cast<double>(claimed) * static_cast<double>(size)));
      count = scaled - begin;
      begin = scaled;
    }
  }
}

void NormHistory::Add(std::vector<double> norms) {
  if (norms.empty()) return;
  if (medians_.size() == kRounds) medians_.erase(medians_.begin());
  medians_.push_back(LowerMedian(std::move(norms)));
}

bool AreAlike(double clip, const std::vector<double>& norms) {
  const double limit = LimitOf(clip, norms);
  return std::ranges::all_of(norms, [limit](double norm) { return norm <= limit; });
}

}  // namespace tributary::inline policy
