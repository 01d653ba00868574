#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/device/round.h"

namespace tributary::inline device {

// What this process gets of the machine's processors, from the operating system. Cheap enough to be asked at every step.
class ProcessorMeter {
 public:
  // Where control groups are mounted, and which this process is in: for tests.
  explicit ProcessorMeter(const std::filesystem::path& groups = "/sys/fs/cgroup",
                          const std::filesystem::path& membership = "/proc/self/cgroup");
  ~ProcessorMeter();
  ProcessorMeter(const ProcessorMeter&) = delete;
  ProcessorMeter& operator=(const ProcessorMeter&) = delete;

  // Processor time that this process has used since it began, all its threads together.
  static double Used();

  // What its control group and those around it allow it now, in processor seconds per second; nothing where they set no
  // limit or are not to be seen.
  std::optional<double> Allowed() const;

 private:
  // The limits of one control group: version 2 has both numbers in one file, version 1 has two.
  struct Limit {
    int quota = -1;  // descriptors; −1 for none
    int period = -1;
  };
  void Look(const std::filesystem::path& folder);

  std::vector<Limit> limits_;
};

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
