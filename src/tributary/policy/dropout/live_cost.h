#pragma once

#include <cstddef>
#include <vector>

#include "tributary/policy/dropout/cost_model.h"

namespace tributary {

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

}  // namespace tributary
