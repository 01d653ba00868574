#pragma once

namespace tributary::inline fleet {

// What it costs to send segments over a link in one direction, learnt from what was seen: a set-up time for each and a
// time for each byte, by least squares over observations that fade. Seconds and bytes. Of the set-up only what stands out
// of the noise counts, a standard error less than the estimate: a plan that believes in too large a set-up cuts too
// little, and never finds out.
class LinkEstimate {
 public:
  // A first guess; it weighs little against anything seen.
  LinkEstimate(double setup, double per_byte);

  // This many segment set-ups and bytes took this long. Without a set-up: what came after a segment's beginning.
  void Observe(double setups, double bytes, double seconds);
  // A step is over: what was seen up to now counts for less against what comes; for much less if things have changed.
  void Fade(bool changed = false);

  double setup() const { return setup_; }
  double per_byte() const { return per_byte_; }

 private:
  void Solve();

  // Sums of products over all observations.
  double setups_setups_ = 0, setups_bytes_ = 0, bytes_bytes_ = 0, setups_seconds_ = 0, bytes_seconds_ = 0;
  double seconds_seconds_ = 0, observations_ = 0;
  double thought_setup_;  // without what the noise takes off
  double setup_, per_byte_;
};

}  // namespace tributary::inline fleet
