#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tributary/base/ids.h"

namespace tributary::inline policy {

// What a device added to the model in a round: the norms of what was taken of its update, times its weight.
struct Contribution {
  DeviceId device;
  double parameters = 0;
  double statistics = 0;
};

// Watches the loss of a run: whether it diverges, and which devices are to blame.
//
// A loss is high if it is not finite, or above a multiple of the median of the last losses that were not; a median below
// the loss of a guess counts as that. A run diverges with kInARow high losses in a row, or with one that is not finite.
//
// To blame are devices with a much larger part than the median in a round since the last loss that was not high. Rounds
// after the first high loss do not count: from ruined weights every device gets large updates.
class DivergenceGuard {
 public:
  static constexpr std::size_t kRounds = 16;
  static constexpr std::uint64_t kInARow = 3;

  struct State {
    std::vector<double> losses;  // that were not high, oldest first
    std::uint64_t high = 0;      // in a row
    // By device: the largest part that it had since in a round, as a multiple of the median.
    std::map<DeviceId, double> parts;
    friend bool operator==(const State&, const State&) = default;
  };
  enum class Verdict { kSound, kHigh, kDiverged };

  // `guess` is the loss of a network that knows nothing; `multiple` is above 0.
  DivergenceGuard(double multiple, double guess) : multiple_(multiple), guess_(guess) {}

  // The largest loss that is not high.
  double Limit() const;
  // The loss of the newest weights.
  Verdict See(double loss);
  // The updates of a round that were applied to the weights that See last judged.
  void Note(std::span<const Contribution> applied);
  // Whom to do without, the largest part first: all with more than kOutlier times the median, and no more than `most`. If there
  // is none of these, the device with the largest part, unless `outliers_only`.
  std::vector<DeviceId> Culprits(std::size_t most, bool outliers_only = false) const;
  // The weights are again those of the last loss that was not high.
  void RolledBack();

  const State& state() const { return state_; }
  void Restore(State state) { state_ = std::move(state); }

 private:
  static constexpr double kOutlier = 3;

  const double multiple_, guess_;
  State state_;
};

}  // namespace tributary::inline policy
