#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tributary/store/run_record.h"

namespace tributary::inline store {

// So many points as a screen shows, of any number: pure functions of what they are given.

// A value over several rounds: its mean, and how far it went. Absent ones and those that are not finite do not count.
struct ValueRange {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Some rounds in a row as one point.
struct RoundPoint {
  RoundId first;  // The rounds it stands for,
  RoundId last;
  std::uint64_t rounds = 0;  // and how many they are.
  TimePoint end{0};          // Of the last of them.
  // Sums.
  Duration duration{0};
  std::uint64_t participants = 0;
  std::uint64_t applied = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t refused = 0;
  std::uint64_t crashed = 0;
  std::uint64_t samples = 0;
  Bytes down;
  Bytes up;
  Bytes injected;
  // Of the last of them.
  std::optional<DeviceId> slowest;
  std::uint64_t buffered = 0;
  // Over them.
  std::optional<ValueRange> train_loss;
  std::optional<ValueRange> overlap;
  std::optional<ValueRange> waiting;
  std::optional<ValueRange> kept;
};

// Takes rounds one after the other and keeps a point for every `each` of them, so that a run of any length passes through
// in little memory.
class RoundBuckets {
 public:
  // `total` rounds will come and at most `points` are wanted; both at least 1. More rounds than that make more points.
  RoundBuckets(std::uint64_t total, std::uint64_t points);
  void Add(const RoundRecord& round);
  std::vector<RoundPoint> Finish() &&;

 private:
  struct Mean {
    void Add(std::optional<double> value);
    std::optional<ValueRange> Get() const;
    double sum = 0, low = 0, high = 0;
    std::uint64_t count = 0;
  };
  void Close();

  const std::uint64_t each_;
  std::vector<RoundPoint> points_;
  RoundPoint point_;
  Mean train_loss_, overlap_, waiting_, kept_;
};

// Which `count` (at least 2) of a curve's points show its form: the first, the last, and of each of as many stretches the
// one that makes the largest triangle with the one chosen before and the mean of the next (Steinarsson 2013). All if there
// are no more. `x` never falls; points that are not finite count as 0.
std::vector<std::size_t> LargestTriangles(std::span<const double> x, std::span<const double> y,
                                          std::size_t count);

}  // namespace tributary::inline store
