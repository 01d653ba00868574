#include "tributary/fleet/protocol/plan_book.h"

#include <algorithm>
#include <numeric>

namespace tributary::inline protocol {
namespace {

// Initial estimate of a segment's cost besides its bytes: a message, and waking its reader.
constexpr double kFirstSetup = 200e-6;
constexpr double kLongest = 1e6;  // longer than any plausible step

double Rate(double bits_per_second) { return std::clamp(bits_per_second, 1.0, 1e18) / 8; }

bool Sensible(const std::vector<double>& seconds, std::size_t size) {
  return seconds.size() == size &&
         std::ranges::all_of(seconds, [](double value) { return value <= kLongest; });
}

}  // namespace

PlanBook::PlanBook(TransferOptions options, const Model& model)
    : options_(options),
      units_(CostsOfUnits(model)),
      unit_bytes_(std::make_shared<const std::vector<std::int64_t>>(units_.bytes)) {}

void PlanBook::Describe(std::size_t device, const Ready& ready) {
  const MutexLock lock(mutex_);
  if (device >= entries_.size()) entries_.resize(device + 1);
  entries_[device] = Entry{ready, nullptr, 0};
}

StepCosts PlanBook::FirstCosts(const Ready& ready, const TrainAssignment& assignment,
                               std::int64_t samples) const {
  StepCosts costs;
  if (Sensible(ready.forward_seconds, units_.macs.size()) &&
      Sensible(ready.backward_seconds, units_.macs.size())) {
    costs.forward = ready.forward_seconds;
    costs.backward = ready.backward_seconds;
  } else {
    const double seconds =
        static_cast<double>(assignment.batch) / std::clamp(ready.macs_per_second, 1.0, 1e18);
    for (const double macs : units_.macs) {
      costs.forward.push_back(macs * seconds);
      costs.backward.push_back(2 * macs * seconds);
    }
  }
  const double step = std::accumulate(costs.forward.begin(), costs.forward.end(), 0.0) +
                      std::accumulate(costs.backward.begin(), costs.backward.end(), 0.0);
  const auto batches =
      static_cast<double>((samples + static_cast<std::int64_t>(assignment.batch) - 1) /
                          std::max<std::int64_t>(1, static_cast<std::int64_t>(assignment.batch)));
  const double steps = assignment.epochs > 0 ? assignment.epochs * batches : assignment.steps;
  costs.between = std::max(0.0, steps - 1) * step;
  costs.latency = std::min(ready.round_trip_seconds, kLongest);
  costs.pull_setup = costs.push_setup = kFirstSetup;
  costs.pull_per_byte = 1 / Rate(ready.down_bits_per_second);
  costs.push_per_byte = 1 / Rate(ready.up_bits_per_second);
  return costs;
}

StepPlan PlanBook::PlanFor(std::size_t device, const TrainAssignment& assignment, std::int64_t samples) {
  const MutexLock lock(mutex_);
  if (units_.macs.empty()) return {};
  Entry& entry = entries_[device];
  if (!entry.planner) {
    entry.planner =
        std::make_unique<StepPlanner>(options_, unit_bytes_, FirstCosts(entry.ready, assignment, samples));
  }
  return entry.planner->plan();
}

void PlanBook::Learn(std::size_t device, const StepObservation& seen) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[device];
  if (entry.planner && entry.planner->Observe(seen))
    ++entry.replanned;  // No planner if the device has rejoined since.
}

std::optional<PlanBook::State> PlanBook::Look(std::size_t device) const {
  const MutexLock lock(mutex_);
  if (device >= entries_.size() || !entries_[device].planner) return std::nullopt;
  return State{entries_[device].planner->plan(), entries_[device].replanned};
}

StepObservation ObservationOf(const Answer& answer, const StepPlan& plan,
                              std::span<const std::int64_t> unit_bytes, double first_bytes,
                              const SegmentArrivals& update, double seconds) {
  StepObservation seen;
  seen.seconds = seconds;
  if (Sensible(answer.forward_seconds, unit_bytes.size()) &&
      Sensible(answer.backward_seconds, unit_bytes.size())) {
    seen.forward = answer.forward_seconds;
    seen.backward = answer.backward_seconds;
  }
  seen.between = std::min(answer.between_seconds, kLongest);

  // Segments of weights follow each other without gaps. The time of the very first piece is unknown.
  const auto& arrivals = answer.arrival_seconds;
  if (Sensible(arrivals, plan.pull.size()) && std::ranges::is_sorted(arrivals)) {
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const double bytes = static_cast<double>(SumOver(plan.pull[i], unit_bytes));
      if (i > 0) {
        seen.pulls.push_back({1, bytes, arrivals[i] - arrivals[i - 1]});
      } else if (bytes > first_bytes && arrivals[0] > answer.first_piece_seconds) {
        seen.pulls.push_back({0, bytes - first_bytes, arrivals[0] - answer.first_piece_seconds});
      }
    }
  }
  // Likewise for segments of an update that waited for the link; otherwise only after the first piece.
  const auto& segments = update.all();
  double raw = 0, sent = 0;
  for (std::size_t i = segments.size(); i-- > 0;) {
    const auto& here = segments[i];
    const std::size_t order = segments.size() - 1 - i;
    const auto bytes = static_cast<double>(here.bytes);
    raw += static_cast<double>(here.floats * sizeof(float));
    sent += bytes;
    if (order > 0 && order < answer.queued.size() && answer.queued[order]) {
      const double took = ToSeconds(here.last - segments[i + 1].last);
      if (took >= 0) seen.pushes.push_back({1, bytes, took});
    } else if (here.bytes > here.first_bytes) {
      const auto first = static_cast<double>(here.first_bytes);
      seen.pushes.push_back({0, bytes - first, ToSeconds(here.last - here.first)});
    }
  }
  if (raw > 0) seen.push_ratio = sent / raw;
  return seen;
}

}  // namespace tributary::inline protocol
