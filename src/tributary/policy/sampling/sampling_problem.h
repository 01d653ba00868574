#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// What the coordinator knows about the clients.
struct SamplingProblem {
  // Samples per client; at least one client has some.
  std::vector<std::int64_t> sizes;
  // label_counts[client][class]; each row sums to the client's size. Empty if labels are unknown.
  std::vector<std::vector<std::int64_t>> label_counts;
  // Step time per client, in any unit; empty: 1 each.
  std::vector<double> delays;
  friend bool operator==(const SamplingProblem&, const SamplingProblem&) = default;
  double DelayOf(std::size_t client) const { return delays.empty() ? 1.0 : delays[client]; }
};

// A plan needs up to 8 bytes per sample: these bounds keep it below a gigabyte.
inline constexpr std::int64_t kMostPlannedSamples = 100'000'000;
inline constexpr std::size_t kMostPlannedClients = 1'000'000;
inline constexpr std::size_t kMostPlannedClasses = 100'000;

// Checks lengths, signs, NaNs, sums of label counts, and the bounds above. Messages number clients from 1.
Status CheckSamplingProblem(const SamplingProblem& problem);

// Treats clients with invalid reports as if they had no samples: label counts that do not add up, delays out
// of range, and the largest sizes until the rest is within the bounds. So no client's report can make
// CheckSamplingProblem fail, unless no client is left. Returns the removed indices, ascending.
std::vector<std::size_t> TakeOutUnplannable(SamplingProblem& problem);

// The number of samples of a valid problem.
std::int64_t TotalSamples(const SamplingProblem& problem);

// The class shares of each client, summing to one; sparse. A client without samples has none. If labels are
// unknown, all samples have one class.
class LabelShares {
 public:
  struct Share {
    std::uint32_t label = 0;
    double share = 0;
  };

  explicit LabelShares(const SamplingProblem& problem);
  std::size_t clients() const { return ends_.size(); }
  std::size_t classes() const { return classes_; }
  std::span<const Share> of(std::size_t client) const {
    const std::size_t begin = client == 0 ? 0 : ends_[client - 1];
    return std::span(shares_).subspan(begin, ends_[client] - begin);
  }

  // The class shares of amounts[k] ≥ 0 samples of each client k. All zero if there are no samples.
  std::vector<double> Pooled(std::span<const double> amounts) const;
  // The class shares of all samples.
  const std::vector<double>& overall() const { return overall_; }

 private:
  std::vector<Share> shares_;
  std::vector<std::size_t> ends_;
  std::size_t classes_ = 1;
  std::vector<double> overall_;
};

}  // namespace tributary::inline policy
