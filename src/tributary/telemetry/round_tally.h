#pragma once

#include <cstdint>
#include <optional>

#include "tributary/telemetry/event.h"

namespace tributary {

// What a round's devices come to together, beyond what RoundFinished says of them.
struct RoundShares {
  std::uint64_t participants = 0;
  std::uint64_t samples = 0;  // Learnt from by those that were applied.
  // Of the time that the participants together had in the round, the part they waited for others. Nobody knows it of a
  // round that took no time.
  std::optional<double> waiting;
  // Of the network's multiply-accumulates, what devices that choose have trained, on average.
  std::optional<double> kept;
  Duration waited{0};   // All participants together,
  Duration present{0};  // and the time they had: participants · duration.
};

// Adds it up: every device of a round, then the round. Finish starts over.
class RoundTally {
 public:
  void Add(const DeviceFinished& device);
  RoundShares Finish(const RoundFinished& round);

 private:
  RoundShares sums_;
  double kept_ = 0;
  std::uint64_t chose_ = 0;
};

}  // namespace tributary
