#include "tributary/policy/sampling/sampling_problem.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "tributary/base/number_text.h"

namespace tributary::inline policy {
namespace {

// Sums of a hundred million delays stay far from overflow.
constexpr double kLongestDelay = 1e12;

std::string Client(std::size_t index) { return "client " + std::to_string(index + 1); }

Status CheckSizes(const std::vector<std::int64_t>& sizes) {
  if (sizes.empty()) return InvalidArgument("there are no clients; one size for each is needed");
  if (sizes.size() > kMostPlannedClients) {
    return ResourceExhausted("there are " + std::to_string(sizes.size()) + " clients; up to " +
                             std::to_string(kMostPlannedClients) + " are planned");
  }
  std::int64_t total = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      return InvalidArgument("the size of " + Client(i) + " is " + std::to_string(sizes[i]) +
                             "; a client has 0 samples or more");
    }
    if (sizes[i] > kMostPlannedSamples - total) {
      return ResourceExhausted("the sizes up to " + Client(i) + " (" + std::to_string(sizes[i]) +
                               ") sum to more than " + std::to_string(kMostPlannedSamples) +
                               " samples, the maximum of one plan");
    }
    total += sizes[i];
  }
  if (total == 0) return InvalidArgument("no client has a sample; at least one must");
  return OkStatus();
}

Status CheckLabelsOf(const SamplingProblem& problem, std::size_t i) {
  const auto& counts = problem.label_counts;
  if (counts[i].size() != counts[0].size() || counts[i].empty() || counts[i].size() > kMostPlannedClasses) {
    return InvalidArgument(Client(i) + " has label counts of " + std::to_string(counts[i].size()) +
                           " classes and client 1 of " + std::to_string(counts[0].size()) +
                           "; all must count the same classes, from 1 to " +
                           std::to_string(kMostPlannedClasses));
  }
  std::int64_t left = problem.sizes[i];
  for (std::size_t label = 0; label < counts[i].size(); ++label) {
    const std::int64_t count = counts[i][label];
    if (count < 0) {
      return InvalidArgument(Client(i) + " has " + std::to_string(count) + " samples of class " +
                             std::to_string(label) + "; counts are 0 or more");
    }
    if (count > left) left = -1;
    if (left < 0) break;
    left -= count;
  }
  if (left != 0) {
    return InvalidArgument("the label counts of " + Client(i) + " sum to " +
                           (left < 0 ? "more than " : std::to_string(problem.sizes[i] - left) + ", not ") +
                           "its size " + std::to_string(problem.sizes[i]) + "; they must add up to it");
  }
  return OkStatus();
}

Status CheckLabels(const SamplingProblem& problem) {
  if (problem.label_counts.size() != problem.sizes.size()) {
    return InvalidArgument("there are label counts of " + std::to_string(problem.label_counts.size()) +
                           " clients and sizes of " + std::to_string(problem.sizes.size()) +
                           "; each client needs both");
  }
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) TRIBUTARY_RETURN_IF_ERROR(CheckLabelsOf(problem, i));
  return OkStatus();
}

Status CheckDelayOf(const SamplingProblem& problem, std::size_t i) {
  if (problem.delays[i] >= 0 && problem.delays[i] <= kLongestDelay) return OkStatus();  // NaN is refused
  return InvalidArgument("the delay of " + Client(i) + " is " + NumberText(problem.delays[i]) +
                         "; delays are finite numbers from 0 to 1e12");
}

Status CheckDelays(const SamplingProblem& problem) {
  if (problem.delays.size() != problem.sizes.size()) {
    return InvalidArgument("there are " + std::to_string(problem.delays.size()) + " delays and " +
                           std::to_string(problem.sizes.size()) + " sizes; each client needs both");
  }
  for (std::size_t i = 0; i < problem.delays.size(); ++i) TRIBUTARY_RETURN_IF_ERROR(CheckDelayOf(problem, i));
  return OkStatus();
}

}  // namespace

Status CheckSamplingProblem(const SamplingProblem& problem) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSizes(problem.sizes));
  if (!problem.label_counts.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckLabels(problem));
  if (!problem.delays.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckDelays(problem));
  return OkStatus();
}

std::vector<std::size_t> TakeOutUnplannable(SamplingProblem& problem) {
  std::vector<bool> out(problem.sizes.size(), false);
  std::vector<std::size_t> by_size;  // largest first; stable
  std::int64_t total = 0;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    out[i] = problem.sizes[i] < 0 || problem.sizes[i] > kMostPlannedSamples ||
             (!problem.label_counts.empty() && !CheckLabelsOf(problem, i).ok()) ||
             (!problem.delays.empty() && !CheckDelayOf(problem, i).ok());
    if (out[i]) continue;
    by_size.push_back(i);
    total += problem.sizes[i];
  }
  std::ranges::stable_sort(by_size, std::greater<>(), [&](std::size_t i) { return problem.sizes[i]; });
  for (std::size_t next = 0; total > kMostPlannedSamples; ++next) {
    out[by_size[next]] = true;
    total -= problem.sizes[by_size[next]];
  }
  const std::size_t classes = problem.label_counts.empty() ? 0 : problem.label_counts[0].size();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) continue;
    places.push_back(i);
    problem.sizes[i] = 0;
    if (!problem.label_counts.empty()) problem.label_counts[i].assign(classes, 0);
    if (!problem.delays.empty()) problem.delays[i] = 0;
  }
  return places;
}

std::int64_t TotalSamples(const SamplingProblem& problem) {
  return std::accumulate(problem.sizes.begin(), problem.sizes.end(), std::int64_t{0});
}

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

}  // namespace tributary::inline policy
