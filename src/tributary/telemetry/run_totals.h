#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tributary/telemetry/event.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {

// Sums over a round's devices that RoundFinished does not contain.
struct RoundShares {
  std::uint64_t participants = 0;
  std::uint64_t samples = 0;  // of applied updates
  // Fraction of the participants' time in the round spent waiting; absent if the round took no time.
  std::optional<double> waiting;
  // Mean fraction of the network's MACs trained by devices that choose sub-networks.
  std::optional<double> kept;
  Duration waited{0};   // over all participants
  Duration present{0};  // participants · duration
};

// Accumulates RoundShares: every device of a round, then the round. Finish starts over.
class RoundTally {
 public:
  void Add(const DeviceFinished& device);
  RoundShares Finish(const RoundFinished& round);

 private:
  RoundShares sums_;
  double kept_ = 0;
  std::uint64_t chose_ = 0;
};

// The state of a run. Accuracies and losses are of the test set if there is one, else of the hold-outs.
struct RunSums {
  std::uint64_t rounds = 0;  // last finished round
  std::optional<double> accuracy;
  std::optional<double> best_accuracy;
  std::optional<double> loss;
  Duration time{0};  // on the run's clock
  Bytes down;
  Bytes up;
  Bytes injected;
  Duration waited{0};   // over all participants and rounds
  Duration present{0};  // the participants' time in them

  std::optional<double> waiting_share() const;
};

// A run accumulated from its events. RunStarted resets everything, RoundStarted resets the round, so an
// unfinished round (the coordinator was killed) does not count. A plain value: treat members as read-only.
struct RunTotals : EventSink {
  // The first `most` devices have their own totals, all others share one. Memory grows with the largest
  // device number below `most`, so events that are not trusted need a bound.
  explicit RunTotals(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) : most_devices(most) {}

  void Write(const Event& event) override;

  std::uint64_t most_devices;
  std::optional<RunStarted> run;
  std::optional<RunFinished> finished;
  RunSums sums;
  std::uint64_t finished_rounds = 0;
  OutcomeCounts outcomes{};
  std::uint64_t rolled_back = 0;      // how often
  std::vector<DeviceId> quarantined;  // in the order of the events
  Bytes relayed;
  std::optional<RoundFinished> last;                                   // last finished round,
  RoundShares shares;                                                  // and its shares
  std::array<std::optional<Evaluated>, kWhereNames.size()> evaluated;  // last evaluations, by where
  // By device number. Entries without rounds, applied or missed, were never mentioned.
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
  void On(const RolledBack&) { ++rolled_back; }
  void On(const Quarantined& device);

  RoundTally tally_;
};

}  // namespace tributary::inline telemetry
