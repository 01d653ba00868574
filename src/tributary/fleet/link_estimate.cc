#include "tributary/fleet/link_estimate.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

// What is left of an observation's weight after each step: less follows changes faster and is noisier.
constexpr double kKept = 0.5;
// The weight of what was thought before: little, but it decides what the observations leave open.
constexpr double kThoughtSetups = 0.1;
constexpr double kThoughtBytes = 1024;

}  // namespace

LinkEstimate::LinkEstimate(double setup, double per_byte) : setup_(setup), per_byte_(per_byte) {}

void LinkEstimate::Observe(double setups, double bytes, double seconds) {
  setups_setups_ += setups * setups;
  setups_bytes_ += setups * bytes;
  bytes_bytes_ += bytes * bytes;
  setups_seconds_ += setups * seconds;
  bytes_seconds_ += bytes * seconds;
  Solve();
}

void LinkEstimate::Fade() {
  for (double* sum : {&setups_setups_, &setups_bytes_, &bytes_bytes_, &setups_seconds_, &bytes_seconds_}) *sum *= kKept;
}

void LinkEstimate::Solve() {
  const double ss = setups_setups_ + kThoughtSetups * kThoughtSetups;
  const double bb = bytes_bytes_ + kThoughtBytes * kThoughtBytes;
  const double st = setups_seconds_ + kThoughtSetups * kThoughtSetups * setup_;
  const double bt = bytes_seconds_ + kThoughtBytes * kThoughtBytes * per_byte_;
  const double determinant = ss * bb - setups_bytes_ * setups_bytes_;  // Above 0: the added weights see to it.
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
}

}  // namespace tributary
