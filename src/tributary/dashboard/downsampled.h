#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary::inline dashboard {

// A series of any length in bounded memory: every 2^k-th point, from the first on, and the newest. Points are kept whole, not
// averaged, so that what is shown did happen.
template <typename Point>
class Downsampled {
 public:
  // At most `most` points are kept; 2 at least.
  explicit Downsampled(std::size_t most) : most_(most) {}

  void Add(Point point) {
    if (!points_.empty() && (seen_ - 1) % stride_ != 0)
      points_.pop_back();  // The newest of before was no 2^k-th.
    if (points_.size() == most_) {
      for (std::size_t i = 1; 2 * i < points_.size(); ++i) points_[i] = std::move(points_[2 * i]);
      points_.resize((points_.size() + 1) / 2);
      stride_ *= 2;
      ++downsamplings_;
    }
    points_.push_back(std::move(point));
    ++seen_;
  }

  // In the order of Add. The last is the newest.
  const std::vector<Point>& points() const { return points_; }
  // How many of points() whoever had the first `known` of all has as well and keeps: all but what is newer, and but what was
  // the newest then and is no 2^k-th. As long as there was no thinning since.
  std::size_t Settled(std::uint64_t known) const {
    if (known == 0) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>(points_.size(), (known - 1) / stride_ + 1));
  }
  // How many there have been.
  std::uint64_t seen() const { return seen_; }
  // Changes whenever points other than the newest were dropped.
  std::uint64_t downsamplings() const { return downsamplings_; }

 private:
  std::size_t most_;
  std::uint64_t stride_ = 1;
  std::uint64_t seen_ = 0;
  std::uint64_t downsamplings_ = 0;
  std::vector<Point> points_;
};

}  // namespace tributary::inline dashboard
