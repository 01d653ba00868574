#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// [trust]: how much of a round one device may decide. All limits are relative to medians, which a minority of devices
// cannot move.
struct TrustOptions {
  // The most that one device may claim, as a multiple of the median of all: the weight of its update, its samples, its
  // speed, its stream. 0: no limit. 50 leaves fleets alone whose sample counts lie between 1 and 50.
  double largest_share = 50;
  // The longest update, as a multiple of the usual norm (NormHistory). 0: no limit.
  double clip = 10;
  // After how many times its expected time a device without progress counts as lost, after a minute at least. 0: never.
  // Real devices only.
  double patience = 20;
  // The highest loss, as a multiple of the median of the last losses; runs above it are rolled back (DivergenceGuard).
  // 0: no limit.
  double divergence = 20;

  friend bool operator==(const TrustOptions&, const TrustOptions&) = default;
};

// The lower median: with two devices the smaller value, so that one of two cannot move it up. 0 of none.
double LowerMedian(std::vector<double> values);

// `multiple` times the lower median; infinite if `multiple` is 0, or the median is.
double LimitOf(double multiple, std::vector<double> values);

// Lowers each value above the limit to it, rounded down to a whole number for types that are.
template <typename Value>
void LimitToMedian(double multiple, std::span<Value> values) {
  const double limit = LimitOf(multiple, std::vector<double>(values.begin(), values.end()));
  for (Value& value : values) {
    if (static_cast<double>(value) > limit) value = static_cast<Value>(limit);
  }
}

// The same for what devices say that they have: those with samples count. Label counts are lowered in proportion, and add
// up to the size again if they did before.
void LimitSizes(double multiple, SamplingProblem& problem);

// The usual norm of an update: the median, over the last rounds, of the median norm of each round's updates. Two medians:
// rounds with many devices do not outvote others, and a round whose few participants are hostile is one of many.
class NormHistory {
 public:
  static constexpr std::size_t kRounds = 16;

  NormHistory() = default;
  // What medians() was.
  explicit NormHistory(std::vector<double> medians) : medians_(std::move(medians)) {}

  // The norms of a round's applied updates, in any order; nothing happens without any.
  void Add(std::vector<double> norms);
  // The longest update that is not clipped; infinite while no round is known.
  double Limit(double clip) const { return LimitOf(clip, medians_); }
  // Oldest first.
  const std::vector<double>& medians() const { return medians_; }

 private:
  std::vector<double> medians_;
};

// Whether no update of a first round, which nothing can be compared with, is longer than `clip` times their median.
bool AreAlike(double clip, const std::vector<double>& norms);

}  // namespace tributary::inline policy
