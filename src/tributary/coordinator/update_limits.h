#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tributary/experiment/experiment.h"
#include "tributary/fleet/report.h"
#include "tributary/policy/trust/limited_sink.h"
#include "tributary/policy/trust/trust.h"

namespace tributary::inline coordinator {

// The median loss that the devices of applied updates report, which a minority cannot move up.
std::optional<double> MedianLoss(const RoundReport& report);

// [trust] in a round: limits what one device adds to it and says of itself.
//
//   1. Begin, then the updates go to sink()
//   2. Judge, when the round is closed
class UpdateLimits {
 public:
  // `guess` is the loss of a network that knows nothing. The store must be the aggregator's, and outlive this.
  UpdateLimits(const Experiment& experiment, double guess, UpdateStore& store);

  void Begin(UpdateSink& aggregator, double most_weight);
  LimitedSink& sink() { return sink_; }
  // Limits the losses and numbers of samples that devices report, marks and notes what was limited, and remembers the
  // norms. False if the updates differ too much to be applied.
  bool Judge(RoundId round, RoundReport& report, const std::function<void(const std::string&)>& note);

  // Medians of the norms of the last rounds, for checkpoints.
  const std::vector<double>& norms() const { return norms_.medians(); }
  void Restore(std::vector<double> norms) { norms_ = NormHistory(std::move(norms)); }

 private:
  // A device's loss counts with at most trust.largest-share times the median, or the loss of a guess.
  void LimitLosses(RoundId round, RoundReport& report,
                   const std::function<void(const std::string&)>& note) const;

  const TrustOptions trust_;
  const double clip_;  // the largest norm of an update, as a multiple of the usual norm; 0 for no limit
  const double guess_;
  LimitedSink sink_;
  NormHistory norms_;
};

}  // namespace tributary::inline coordinator
