#include "tributary/coordinator/update_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tributary/fleet/fleet.h"

namespace tributary::inline coordinator {

std::optional<double> MedianLoss(const RoundReport& report) {
  std::vector<double> losses;
  for (const DeviceReport& device : report.devices) {
    if (device.outcome == Outcome::kApplied && device.metrics.samples > 0)
      losses.push_back(device.metrics.loss);
  }
  return losses.empty() ? std::nullopt : std::optional(LowerMedian(std::move(losses)));
}

UpdateLimits::UpdateLimits(const Experiment& experiment, double guess, UpdateStore& store)
    : trust_(experiment.trust),
      // A device's part of a global batch may be one sample, and its gradient anything.
      clip_(experiment.global_batch() ? 0 : experiment.trust.clip),
      guess_(guess),
      sink_(store) {}

void UpdateLimits::Begin(UpdateSink& aggregator, double most_weight) {
  sink_.Begin(aggregator, most_weight, norms_.Limit(clip_));
}

void UpdateLimits::LimitLosses(RoundId round, RoundReport& report,
                               const std::function<void(const std::string&)>& note) const {
  constexpr double kLargest = 1e30;  // Sums of it are finite.
  const double share = trust_.largest_share;
  const double median = std::max(guess_, MedianLoss(report).value_or(0));
  const double most = share > 0 ? std::min(share * median, kLargest) : kLargest;
  for (DeviceReport& device : report.devices) {
    if (device.outcome != Outcome::kApplied || device.metrics.loss <= most) continue;
    note(
        fmt::format("device {}: it reports a loss of {:.4g} in round {}, which counts as {:.4g}, "
                    "trust.largest-share = {} times the median",
                    device.device.value, device.metrics.loss, round.value, most, share));
    device.metrics.loss = most;
    device.capped = 1;
  }
}

bool UpdateLimits::Judge(RoundId round, RoundReport& report,
                         const std::function<void(const std::string&)>& note) {
  LimitLosses(round, report, note);
  const double limit = norms_.Limit(clip_);
  const std::map<WorkId, LimitedSink::Taken> taken = sink_.taken();
  std::vector<double> norms;
  for (DeviceReport& device : report.devices) {
    const auto update = taken.find(WorkOf(device.device));
    if (device.outcome != Outcome::kApplied || update == taken.end()) continue;
    const double norm = update->second.norm;
    norms.push_back(norm);
    // What else follows from how much it says to have learnt from: the learning rate, the loss, what was trained.
    if (static_cast<double>(device.metrics.samples) > sink_.most_weight())
      device.metrics.samples = static_cast<std::int64_t>(sink_.most_weight());
    if (update->second.capped) device.capped = 1;
    device.clipped = update->second.clipped ? 1 : 0;
    if (update->second.capped) {
      note(
          fmt::format("device {}: its update of round {} weighs more than trust.largest-share = {} times the "
                      "median of the participants, and counts with that",
                      device.device.value, round.value, trust_.largest_share));
    }
    if (device.clipped > 0) {
      note(
          fmt::format("device {}: the norm of its update of round {} is {:.4g} and was clipped to {:.4g}, "
                      "trust.clip = {} times the median",
                      device.device.value, round.value, norm, limit, clip_));
    }
  }
  // Nothing is known yet that a first round could be clipped to.
  const bool alike = !norms_.medians().empty() || AreAlike(clip_, norms);
  if (!alike) {
    note(
        fmt::format("the updates of round {} are not applied: the norm of one is more than trust.clip = {} "
                    "times their median, and no round before tells the usual norm",
                    round.value, clip_));
  }
  norms_.Add(std::move(norms));
  return alike;
}

}  // namespace tributary::inline coordinator
