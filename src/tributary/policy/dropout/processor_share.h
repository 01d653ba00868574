#pragma once

#include <optional>

namespace tributary {

// How much processor time a device gets, in seconds per second, and will get in its next step: what it got in its last ones,
// and at once more or less where its allowance is known and has changed.
class ProcessorShare {
 public:
  // `first` is what it is taken to be before anything has been seen; above 0.
  explicit ProcessorShare(double first) : rate_(first) {}

  // So much was got in so long, while so much was allowed (nothing where nobody knows). What makes no sense is passed over.
  void Observe(double processor_seconds, double seconds, std::optional<double> allowed);

  // While so much is allowed.
  double Rate(std::optional<double> allowed) const;

 private:
  double rate_;
  std::optional<double> allowed_;  // while that was seen
};

}  // namespace tributary
