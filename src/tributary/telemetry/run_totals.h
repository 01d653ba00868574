#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tributary/telemetry/event.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {

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

// How a run stands. Accuracies and losses are of the coordinator's test set where there is one, else of what devices hold
// out.
struct RunSums {
  std::uint64_t rounds = 0;  // The last one that is finished.
  std::optional<double> accuracy;
  std::optional<double> best_accuracy;
  std::optional<double> loss;
  Duration time{0};  // Of the run's own clock.
  Bytes down;
  Bytes up;
  Bytes injected;
  Duration waited{0};   // All participants of all rounds together,
  Duration present{0};  // of the time they had.

  std::optional<double> waiting_share() const;
};

// A run added up from its events, for all that show or keep it. A run that starts begins anew, and so does a round: what
// was left of one that never ended, as in the log of a coordinator that was killed, does not count. A plain value: members
// are for reading.
struct RunTotals : EventSink {
  static constexpr std::uint64_t kAllDevices = std::numeric_limits<std::uint64_t>::max();

  // The first `most` devices by number have totals of their own, all others have one. Memory grows with the largest number
  // of a device that has, so events that are not trusted need a bound.
  explicit RunTotals(std::uint64_t most = kAllDevices) : most_devices(most) {}

  void Write(const Event& event) override;

  std::uint64_t most_devices;
  std::optional<RunStarted> run;
  std::optional<RunFinished> finished;
  RunSums sums;
  std::uint64_t finished_rounds = 0;
  OutcomeCounts outcomes{};
  Bytes relayed;
  std::optional<RoundFinished> last;  // Of the last round that is finished, with
  RoundShares shares;                 // what its devices came to.
  std::array<std::optional<Evaluated>, kWhereNames.size()> evaluated;  // The last ones, by where.
  // By their numbers, as far as any was heard of. Those without a round, applied or missed, were not.
  std::vector<DeviceTotals> devices;
  DeviceTotals others;

 private:
  void On(const RunStarted& started);
  void On(const RoundStarted& started);
  void On(const DeviceFinished& device);
  void On(const RoundFinished& round);
  void On(const Evaluated& evaluation);
  void On(const RunFinished& end);
  void On(const Note&) {}

  RoundTally tally_;
};

}  // namespace tributary::inline telemetry
