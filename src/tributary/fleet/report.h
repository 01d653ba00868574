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

// A device's answer to a TrainAssignment. The device owns the spans, which are valid only during the call.
struct Update {
  std::span<const float> parameters;  // gradient or change
  std::span<const float> statistics;  // running statistics after training
  double weight = 0;                  // samples trained on

  std::array<UpdatePiece, 2> pieces() const {
    return {
        {{UpdatePart::kParameters, 0, parameters, weight}, {UpdatePart::kStatistics, 0, statistics, weight}}};
  }
};

struct TrainingMetrics {
  std::int64_t samples = 0;
  double loss = 0;  // mean over the samples
  std::int64_t correct = 0;
};

// Sums over held-out samples; sums of several devices add up.
struct EvaluationTotals {
  std::int64_t samples = 0;
  double loss = 0;  // sum, not mean
  std::int64_t correct = 0;

  EvaluationTotals& operator+=(const EvaluationTotals& other) {
    samples += other.samples;
    loss += other.loss;
    correct += other.correct;
    return *this;
  }
};

// Batch-norm moments in the layout of the running statistics: Σx at the mean's place, Σx² at the variance's,
// and the number of values in each sum. Moments of several devices add up.
struct Moments {
  std::vector<double> sums;
  std::vector<double> counts;  // same layout

  Moments() = default;
  explicit Moments(std::size_t size) : sums(size, 0), counts(size, 0) {}
  // Sizes must be equal.
  Moments& operator+=(const Moments& other) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += other.sums[i];
      counts[i] += other.counts[i];
    }
    return *this;
  }
};

// Mean Σx/n, variance Σx²/n − mean² scaled by n/(n−1). Channels with fewer than two values keep theirs.
void EstimateStatistics(const Model& model, const Moments& moments, std::span<float> statistics);

// How much of the network a device trained, where the device chooses.
struct TrainedShare {
  double macs = 1;                     // mean over its steps, as a fraction of the whole network's
  std::vector<std::uint32_t> entries;  // chosen menu entry of each step; a single one if all are the same
};

// One device's part in a round: the event's fields (telemetry/device_round.h) except the round, and what the
// coordinator needs besides. The event's samples, loss, stream and share follow from `metrics`, `stream` and
// `kept`. Times add up to the round's duration less hidden time, which counts twice. Unknown values are 0.
struct DeviceReport : DeviceFinished {
  DeviceReport() { outcome = Outcome::kLost; }
  TrainingMetrics metrics;
  Bytes injected;  // part of `down` and `up`: shared samples
  // For devices whose samples arrive over time.
  struct Stream {
    std::optional<SamplesPerSecond> rate;  // measured; nothing before the first samples
    std::int64_t buffered = 0;
    Duration oldest{0};  // age of the oldest buffered sample
    // Since the device was started:
    std::int64_t dropped = 0;  // by its buffer, unused
    std::int64_t missing = 0;  // positions that never came
    std::int64_t undecodable = 0;
    // Range of positions that this update was trained on, inclusive; empty if last < first.
    std::int64_t first = 0;
    std::int64_t last = -1;
  };
  std::optional<Stream> stream;
  std::optional<TrainedShare> kept;
};

// Result of an order. Answers that count have the outcome kApplied.
struct RoundReport {
  TimePoint start{0};
  TimePoint end{0};
  std::vector<DeviceReport> devices;  // in the order of the participants
  EvaluationTotals totals;            // evaluation: sum over the answers that count
  Moments moments;                    // calibration: sum over the answers that count
  std::size_t quorum = 0;             // the number of answers needed at the end of the round

  std::size_t applied() const {
    return static_cast<std::size_t>(std::ranges::count(
        devices, Outcome::kApplied, [](const DeviceReport& device) { return device.outcome; }));
  }
};

}  // namespace tributary::inline fleet
