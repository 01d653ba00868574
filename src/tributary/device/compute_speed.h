#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/device/round.h"

namespace tributary::inline device {

// Processor time and CPU limits of this process, from the operating system. Cheap enough for every step.
class ProcessorMeter {
 public:
  // The mount point of the control groups and the file with this process's groups: parameters for tests.
  explicit ProcessorMeter(const std::filesystem::path& groups = "/sys/fs/cgroup",
                          const std::filesystem::path& membership = "/proc/self/cgroup");
  ~ProcessorMeter();
  ProcessorMeter(const ProcessorMeter&) = delete;
  ProcessorMeter& operator=(const ProcessorMeter&) = delete;

  // Processor time used by all threads of this process since it started.
  static double Used();

  // Current CPU limit of its control group and the enclosing groups, in processor seconds per second; empty
  // if there is none or it cannot be read.
  std::optional<double> Allowed() const;

 private:
  // Limit of one control group: version 2 has both numbers in one file, version 1 in two.
  struct Limit {
    int quota = -1;  // file descriptors; −1: none
    int period = -1;
  };
  void Look(const std::filesystem::path& folder);

  std::vector<Limit> limits_;
};

// Compute speed of a real device, from measured training steps.
struct ComputeSpeed {
  double macs_per_second = 0;
  LayerTimes layers;             // per step
  double processor_seconds = 0;  // per step, over all processors
  double processors = 1;         // used during the measurement
};

// Trains for about 200 ms on batches of this size, from these weights, on `samples` or, if null, `data`.
StatusOr<ComputeSpeed> MeasureCompute(Worker& worker, const DeviceTraining& training,
                                      const SharedWeights& weights, const LocalData& data,
                                      const RoundSamples* samples, std::size_t batch, const Clock& clock);

}  // namespace tributary::inline device
