#include "tributary/fleet/link_estimate.h"

#include <algorithm>
#include <cmath>

namespace tributary::inline fleet {
namespace {

// What is left of an observation's weight after each step: less follows changes faster and is noisier.
constexpr double kKept = 0.8;
constexpr double kKeptWhenChanged = 0.1;
// The weight of what was thought before: little, but it decides what the observations leave open.
constexpr double kThoughtSetups = 0.1;
constexpr double kThoughtBytes = 1024;

}  // namespace

LinkEstimate::LinkEstimate(double setup, double per_byte)
    : thought_setup_(setup), setup_(setup), per_byte_(per_byte) {}

void LinkEstimate::Observe(double setups, double bytes, double seconds) {
  setups_setups_ += setups * setups;
  setups_bytes_ += setups * bytes;
  bytes_bytes_ += bytes * bytes;
  setups_seconds_ += setups * seconds;
  bytes_seconds_ += bytes * seconds;
  seconds_seconds_ += seconds * seconds;
  observations_ += 1;
  Solve();
}

void LinkEstimate::Fade(bool changed) {
  for (double* sum : {&setups_setups_, &setups_bytes_, &bytes_bytes_, &setups_seconds_, &bytes_seconds_,
                      &seconds_seconds_, &observations_}) {
    *sum *= changed ? kKeptWhenChanged : kKept;
  }
}

void LinkEstimate::Solve() {
  const double ss = setups_setups_ + kThoughtSetups * kThoughtSetups;
  const double bb = bytes_bytes_ + kThoughtBytes * kThoughtBytes;
  const double st = setups_seconds_ + kThoughtSetups * kThoughtSetups * thought_setup_;
  const double bt = bytes_seconds_ + kThoughtBytes * kThoughtBytes * per_byte_;
  const double determinant =
      ss * bb - setups_bytes_ * setups_bytes_;  // Above 0: the added weights see to it.
  setup_ = (st * bb - bt * setups_bytes_) / determinant;
  per_byte_ = (ss * bt - setups_bytes_ * st) / determinant;
  // Neither can be negative; where noise makes one so, the other explains all.
  if (setup_ < 0) {
    setup_ = 0;
    per_byte_ = bt / bb;
  }
  if (per_byte_ < 0) {
    per_byte_ = 0;
    setup_ = st / ss;
  }
  thought_setup_ = setup_;
  if (observations_ <= 3) return;  // Two numbers explain so few without a rest.
  const double rest = seconds_seconds_ - 2 * (setup_ * setups_seconds_ + per_byte_ * bytes_seconds_) +
                      setup_ * setup_ * setups_setups_ + 2 * setup_ * per_byte_ * setups_bytes_ +
                      per_byte_ * per_byte_ * bytes_bytes_;
  const double error = std::sqrt(std::max(0.0, rest) / (observations_ - 2) * bb / determinant);
  setup_ = std::max(0.0, setup_ - error);
}

}  // namespace tributary::inline fleet
