#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/telemetry/event.h"

namespace tributary {

// What a device answers to a TrainAssignment. The spans belong to the device and are valid only during the call that
// hands them over.
struct Update {
  std::span<const float> parameters;  // the gradient, or the change
  std::span<const float> statistics;  // running statistics after the work
  double weight = 0;                  // samples learnt from
};

enum class UpdatePart { kParameters, kStatistics };

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

  explicit Moments(std::size_t size = 0) : sums(size, 0), counts(size, 0) {}
  // Of the same size.
  Moments& operator+=(const Moments& other) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += other.sums[i];
      counts[i] += other.counts[i];
    }
    return *this;
  }
};

// How much of the network a device trained, where that is its choice.
struct KeptShare {
  double macs = 1;  // of a step, as a share of the whole network's: over its steps on average
  std::vector<std::uint32_t> entries;  // of the menu it chose from: of each step; one where all are the same
};

// One device's part in a round. Times add up to the round's duration, less what was hidden, which counts twice; what is
// not known is zero.
struct DeviceReport {
  DeviceId device;
  Outcome outcome = Outcome::kLost;
  std::string reason;  // for people, where it was not applied
  TrainingMetrics metrics;
  Duration pull{0};
  Duration compute{0};
  Duration push{0};
  Duration wait{0};                 // for its stream, and from its arrival or its absence to the round's end
  Duration hidden{0};               // of transfers behind computation
  std::optional<Duration> planned;  // how long its part should have taken, where there was a plan
  Duration hideable{0};             // what could be: all of a pass or all of its transfers, whichever is less
  Bytes down;
  Bytes up;
  Bytes injected;  // of both: samples that are shared
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
  std::optional<KeptShare> kept;
  // Of one that averages with others: with how many it did. `down` and `up` are then what models took between devices, and
  // what the coordinator sent to one without a model.
  std::optional<std::int64_t> met;
  Bytes relayed;  // of those, what went by way of the coordinator
};

struct RoundReport {
  TimePoint start{0};
  TimePoint end{0};
  std::vector<DeviceReport> devices;  // in the order of the participants
};

}  // namespace tributary
