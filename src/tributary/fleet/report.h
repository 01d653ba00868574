#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/aggregator.h"
#include "tributary/telemetry/device_round.h"

namespace tributary::inline fleet {

// What a device answers to a TrainAssignment. The spans belong to the device and are valid only during the call that
// hands them over.
struct Update {
  std::span<const float> parameters;  // the gradient, or the change
  std::span<const float> statistics;  // running statistics after the work
  double weight = 0;                  // samples learnt from

  std::array<UpdatePiece, 2> pieces() const {
    return {
        {{UpdatePart::kParameters, 0, parameters, weight}, {UpdatePart::kStatistics, 0, statistics, weight}}};
  }
};

// How training went on a device.
struct TrainingMetrics {
  std::int64_t samples = 0;
  double loss = 0;  // mean over the samples
  std::int64_t correct = 0;
};

// Sums over held-out samples; devices' sums add up.
struct EvaluationTotals {
  std::int64_t samples = 0;
  double loss = 0;  // summed, not averaged
  std::int64_t correct = 0;

  EvaluationTotals& operator+=(const EvaluationTotals& other) {
    samples += other.samples;
    loss += other.loss;
    correct += other.correct;
    return *this;
  }
};

// What batch norms saw, laid out like the running statistics: Σx where the mean lies, Σx² where the variance lies, and
// how many values each channel's sums are of. Devices' moments add up.
struct Moments {
  std::vector<double> sums;
  std::vector<double> counts;  // same layout

  Moments() = default;
  explicit Moments(std::size_t size) : sums(size, 0), counts(size, 0) {}
  // Of the same size.
  Moments& operator+=(const Moments& other) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += other.sums[i];
      counts[i] += other.counts[i];
    }
    return *this;
  }
};

// Running statistics from summed moments: mean Σx/n and variance Σx²/n − mean², scaled by n/(n−1) as batch norms do.
// Channels that no sample reached keep what they have.
void EstimateStatistics(const Model& model, const Moments& moments, std::span<float> statistics);

// How much of the network a device trained, where that is its choice.
struct TrainedShare {
  double macs = 1;  // of a step, as a share of the whole network's: over its steps on average
  std::vector<std::uint32_t> entries;  // of the menu it chose from: of each step; one where all are the same
};

// One device's part in a round, as events say it (telemetry/device_round.h) but for the round, and what the coordinator
// needs beside: the event's samples, loss, stream and share follow from `metrics`, `stream` and `kept`. Times add up to
// the round's duration, less what was hidden, which counts twice; what is not known is zero.
struct DeviceReport : DeviceFinished {
  DeviceReport() { outcome = Outcome::kLost; }

  TrainingMetrics metrics;
  Bytes injected;  // of `down` and `up`: samples that are shared
  // Of a device whose samples arrive over time.
  struct Stream {
    std::optional<SamplesPerSecond> rate;  // as measured; nothing before some have come
    std::int64_t buffered = 0;
    Duration oldest{0};  // how long the first of them has been there
    // Since the device was started:
    std::int64_t dropped = 0;  // by its buffer, unused
    std::int64_t missing = 0;  // positions that never came
    std::int64_t undecodable = 0;
    // What this update was learnt from, both included; none where there is none.
    std::int64_t first = 0;
    std::int64_t last = -1;
  };
  std::optional<Stream> stream;
  std::optional<TrainedShare> kept;
};

// What became of an order. An answer that counts has the outcome kApplied.
struct RoundReport {
  TimePoint start{0};
  TimePoint end{0};
  std::vector<DeviceReport> devices;  // in the order of the participants
  EvaluationTotals totals;            // of an evaluation: of all answers that count
  Moments moments;                    // likewise of a calibration
  std::size_t quorum = 0;             // of answers, as it was in the end

  std::size_t applied() const {
    return static_cast<std::size_t>(std::ranges::count(
        devices, Outcome::kApplied, [](const DeviceReport& device) { return device.outcome; }));
  }
};

}  // namespace tributary::inline fleet
