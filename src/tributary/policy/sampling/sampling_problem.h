#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// What the coordinator knows of the clients whose samples make up the global batches.
struct SamplingProblem {
  // Samples of each client; some may have none, but not all.
  std::vector<std::int64_t> sizes;
  // label_counts[client][class], each client's adding up to its size; empty where labels are not known.
  std::vector<std::vector<std::int64_t>> label_counts;
  // How long a step takes each client, in any unit; empty where it is 1 for each.
  std::vector<double> delays;

  friend bool operator==(const SamplingProblem&, const SamplingProblem&) = default;
  double DelayOf(std::size_t client) const { return delays.empty() ? 1.0 : delays[client]; }
};

// A plan holds up to 8 bytes for a sample: with these bounds it stays below a gigabyte.
inline constexpr std::int64_t kMostPlannedSamples = 100'000'000;
inline constexpr std::size_t kMostPlannedClients = 1'000'000;
inline constexpr std::size_t kMostPlannedClasses = 100'000;

// Whether there is something to plan: lengths agree, nothing is negative or not a number, label counts add up, and
// the whole is no larger than the bounds above. Clients are named by their place, counted from 1.
Status CheckSamplingProblem(const SamplingProblem& problem);

// Takes those clients out of a problem whose claims nobody can plan with, as if they had no samples: label counts that do
// not add up, delays out of range, and the largest sizes until the rest is within the bounds. What clients say of
// themselves can then not make CheckSamplingProblem fail, unless none is left. Returns the places of those taken out,
// rising.
std::vector<std::size_t> TakeOutUnplannable(SamplingProblem& problem);

// All samples of a problem that was found good.
std::int64_t TotalSamples(const SamplingProblem& problem);

// Of what classes each client's samples are, as shares that add up to one. Only the classes that a client has are held.
// A client without samples has none. Where labels are not known, all samples are of one class.
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

  // The shares of the classes among amounts[k] samples of each client k; amounts are not negative. All zero if there are
  // none.
  std::vector<double> Pooled(std::span<const double> amounts) const;
  // Those of all samples.
  const std::vector<double>& overall() const { return overall_; }

 private:
  std::vector<Share> shares_;
  std::vector<std::size_t> ends_;
  std::size_t classes_ = 1;
  std::vector<double> overall_;
};

}  // namespace tributary::inline policy
