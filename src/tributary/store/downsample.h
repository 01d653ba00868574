#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tributary/store/run_record.h"

namespace tributary::inline store {

// Reduces series to as many points as a screen shows; pure functions.

// A value over several rounds. Absent values and values that are not finite are ignored.
struct ValueRange {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Consecutive rounds as one point.
struct RoundPoint {
  RoundId first;
  RoundId last;
  std::uint64_t rounds = 0;
  TimePoint end{0};  // of the last round
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
  // Of the last round.
  std::optional<DeviceId> slowest;
  std::uint64_t buffered = 0;
  // Over all rounds.
  std::optional<ValueRange> train_loss;
  std::optional<ValueRange> overlap;
  std::optional<ValueRange> waiting;
  std::optional<ValueRange> kept;
};

// Takes rounds one by one and keeps one point for every `each` of them, in bounded memory.
class RoundBuckets {
 public:
  // `total` expected rounds, at most `points` points; both at least 1. Further rounds make further points.
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

// Chooses `count` (at least 2) points of a curve that preserve its form (Largest Triangle Three Buckets,
// Steinarsson 2013), or all. `x` must not decrease; points that are not finite count as 0.
std::vector<std::size_t> LargestTriangles(std::span<const double> x, std::span<const double> y,
                                          std::size_t count);

}  // namespace tributary::inline store
