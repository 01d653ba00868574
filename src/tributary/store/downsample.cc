#include "tributary/store/downsample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/saturating.h"

namespace tributary::inline store {

void RoundBuckets::Mean::Add(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return;
  low = count == 0 ? *value : std::min(low, *value);
  high = count == 0 ? *value : std::max(high, *value);
  sum += *value;
  ++count;
}

std::optional<ValueRange> RoundBuckets::Mean::Get() const {
  if (count == 0) return std::nullopt;
  return ValueRange{std::clamp(sum / static_cast<double>(count), low, high), low, high};
}

RoundBuckets::RoundBuckets(std::uint64_t total, std::uint64_t points)
    : each_(std::max<std::uint64_t>(1, total / points + (total % points == 0 ? 0 : 1))) {
  TRIBUTARY_CHECK(points > 0);
}

void RoundBuckets::Add(const RoundRecord& round) {
  const RoundFinished& finished = round.finished;
  if (point_.rounds == 0) point_.first = finished.round;
  point_.last = finished.round;
  ++point_.rounds;
  point_.end = round.end;
  point_.duration = SaturatingAdd(point_.duration, finished.duration);
  point_.participants = SaturatingAdd(point_.participants, round.participants);
  point_.applied = SaturatingAdd(point_.applied, finished.applied);
  point_.late = SaturatingAdd(point_.late, finished.late);
  point_.lost = SaturatingAdd(point_.lost, finished.lost);
  point_.refused = SaturatingAdd(point_.refused, finished.refused);
  point_.crashed = SaturatingAdd(point_.crashed, finished.crashed);
  point_.samples = SaturatingAdd(point_.samples, round.samples);
  point_.down = SaturatingAdd(point_.down, finished.bytes_down);
  point_.up = SaturatingAdd(point_.up, finished.bytes_up);
  point_.injected = SaturatingAdd(point_.injected, finished.bytes_injected);
  point_.slowest = finished.slowest;
  point_.buffered = finished.buffered;
  train_loss_.Add(finished.train_loss);
  overlap_.Add(finished.overlap);
  waiting_.Add(round.waiting);
  kept_.Add(round.kept);
  if (point_.rounds == each_) Close();
}

void RoundBuckets::Close() {
  point_.train_loss = std::exchange(train_loss_, {}).Get();
  point_.overlap = std::exchange(overlap_, {}).Get();
  point_.waiting = std::exchange(waiting_, {}).Get();
  point_.kept = std::exchange(kept_, {}).Get();
  points_.push_back(std::exchange(point_, {}));
}

std::vector<RoundPoint> RoundBuckets::Finish() && {
  if (point_.rounds > 0) Close();
  return std::move(points_);
}

std::vector<std::size_t> LargestTriangles(std::span<const double> x, std::span<const double> y,
                                          std::size_t count) {
  TRIBUTARY_CHECK(x.size() == y.size() && count >= 2);
  std::vector<std::size_t> chosen;
  if (x.size() <= count) {
    for (std::size_t i = 0; i < x.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  const auto finite = [](double value) { return std::isfinite(value) ? value : 0.0; };
  // The points between the first and the last form count − 2 stretches, which the last point follows.
  const std::size_t inner = x.size() - 2, stretches = count - 2;
  const auto begin = [&](std::size_t stretch) {
    return 1 + stretch * inner / std::max<std::size_t>(1, stretches);
  };
  chosen.push_back(0);
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const std::size_t next = begin(stretch + 1);
    const std::size_t next_end = stretch + 1 < stretches ? begin(stretch + 2) : x.size();
    double mean_x = 0, mean_y = 0;
    for (std::size_t i = next; i < next_end; ++i) {
      mean_x += finite(x[i]) / static_cast<double>(next_end - next);
      mean_y += finite(y[i]) / static_cast<double>(next_end - next);
    }
    const double before_x = finite(x[chosen.back()]), before_y = finite(y[chosen.back()]);
    std::size_t best = begin(stretch);
    double largest = -1;
    for (std::size_t i = begin(stretch); i < next; ++i) {
      const double area = std::abs((before_x - mean_x) * (finite(y[i]) - before_y) -
                                   (before_x - finite(x[i])) * (mean_y - before_y));
      if (area > largest) {
        largest = area;
        best = i;
      }
    }
    chosen.push_back(best);
  }
  chosen.push_back(x.size() - 1);
  return chosen;
}

}  // namespace tributary::inline store
