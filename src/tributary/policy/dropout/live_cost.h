#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tributary/policy/dropout/cost_model.h"

namespace tributary::inline policy {

// What steps cost on this device, learnt from those it has done: at first what is known from elsewhere, in the proportion of
// what was measured here; once there have been enough different ones, a model of its own.
class LiveCost {
 public:
  explicit LiveCost(const CostModel& known) : known_(known), model_(known) {}

  // A step with these features took so long. What makes no sense is passed over.
  void Observe(const CostMeasurement& seen);

  const CostModel& model() const { return model_; }

 private:
  static constexpr std::size_t kMost = 128;   // remembered
  static constexpr std::size_t kEvery = 16;   // observations between two fits
  static constexpr std::size_t kEnough = 24;  // for a model of its own

  void Fit();

  const CostModel known_;
  CostModel model_;
  std::vector<CostMeasurement> seen_;  // the oldest is written over
  std::size_t count_ = 0;
};

// How much processor time a device gets, in seconds per second, and will get in its next step: what it got in its last ones,
// and at once more or less where its allowance is known and has changed.
class ProcessorShare {
 public:
  // `first` is what it is taken to be before anything has been seen; above 0.
  explicit ProcessorShare(double first) : rate_(first) {}

  // So much was got in so long, while so much was allowed (nothing where nobody knows). What makes no sense is passed over.
  void Observe(double processor_seconds, double seconds, std::optional<double> allowed);

  // While so much is allowed.
  double Rate(std::optional<double> allowed) const;

 private:
  double rate_;
  std::optional<double> allowed_;  // while that was seen
};

}  // namespace tributary::inline policy
