#pragma once

#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/device/round.h"

namespace tributary::inline device {

// How fast a real device computes, by its steps of training.
struct ComputeSpeed {
  double macs_per_second = 0;
  LayerTimes layers;             // of one step
  double processor_seconds = 0;  // that a step takes of all processors together
  double processors = 1;         // that it got meanwhile
};

// Trains for about 200 ms on batches of this size, from these weights: on `data`, or on one batch of its own.
StatusOr<ComputeSpeed> MeasureCompute(Worker& worker, const DeviceTraining& training,
                                      const SharedWeights& weights, const LocalData& data,
                                      const RoundSamples* samples, std::size_t batch, const Clock& clock);

}  // namespace tributary::inline device
