#include "tributary/policy/scheduling/transfer_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline policy {
namespace {

// The last layer that a segment starting at `first` may hold.
std::size_t Reach(const SegmentBound& bound, std::size_t layers, std::size_t first) {
  if (bound.sizes.empty()) return layers - 1;
  double size = bound.sizes[first];
  std::size_t last = first;
  while (last + 1 < layers && size + bound.sizes[last + 1] <= bound.most) size += bound.sizes[++last];
  return last;
}

TransferPlan Cut(const TransferPlan& plan, const SegmentBound& bound) {
  if (bound.sizes.empty()) return plan;
  TransferPlan cut;
  for (const LayerRun& run : plan) {
    for (std::size_t first = run.first; first <= run.last;) {
      const std::size_t last = std::min(run.last, Reach(bound, bound.sizes.size(), first));
      cut.push_back({first, last});
      first = last + 1;
    }
  }
  return cut;
}

TransferPlan Layerwise(std::size_t layers) {
  TransferPlan plan;
  for (std::size_t layer = 0; layer < layers; ++layer) plan.push_back({layer, layer});
  return plan;
}

// iBatch: the first layer is a segment by itself. Each further segment takes at least one layer, and as many
// as arrive before the released computation ends.
TransferPlan IBatch(const PassProfile& profile) {
  const std::size_t layers = profile.transfer.size();
  TransferPlan plan;
  double link = 0;
  double processor = 0;
  for (std::size_t first = 0; first < layers;) {
    std::size_t last = first;
    double arrival = link + profile.setup + profile.transfer[first];
    while (first > 0 && last + 1 < layers && arrival + profile.transfer[last + 1] <= processor) {
      arrival += profile.transfer[++last];
    }
    plan.push_back({first, last});
    link = arrival;
    processor = std::max(processor, link);
    for (std::size_t layer = first; layer <= last; ++layer) processor += profile.compute[layer];
    first = last + 1;
  }
  return plan;
}

// The first number in [from, to) for which `holds` is false, or `to`. `holds` must be true up to some number
// and false from there on. Galloping search.
template <typename Predicate>
std::size_t FirstThatIsNot(const Predicate& holds, std::size_t from, std::size_t to) {
  std::size_t stride = 1;
  while (from < to && holds(std::min(from + stride, to) - 1)) {
    from = std::min(from + stride, to);
    stride *= 2;
  }
  std::size_t known = std::min(from + stride, to);  // `holds` is false for known − 1
  while (from + 1 < known) {
    const std::size_t middle = from + (known - from) / 2;
    if (holds(middle - 1)) {
      from = middle;
    } else {
      known = middle;
    }
  }
  return from;
}

// Tests start times of the computation against prefix sums that are computed once.
class PlanSearch {
 public:
  PlanSearch(const PassProfile& profile, const SegmentBound& bound)
      : setup_(profile.setup),
        layers_(profile.transfer.size()),
        arrived_(layers_ + 1),
        computed_(layers_ + 1) {
    for (std::size_t i = 0; i < layers_; ++i) {
      arrived_[i + 1] = arrived_[i] + profile.transfer[i];
      computed_[i + 1] = computed_[i] + profile.compute[i];
    }
    if (!bound.sizes.empty()) FindReach(bound);
  }

  struct Verdict {
    bool feasible;
    // Feasible: the start that these segments need. Infeasible: every start below it is infeasible too.
    double start;
  };
  // Whether computation that starts at `start` never waits. ends() then returns the ends of the segments.
  Verdict Try(double start) {
    ends_.clear();
    double needed = 0;
    double next = std::numeric_limits<double>::infinity();
    std::size_t first = 0;
    double setups = 0;
    while (first < layers_) {
      setups += setup_;
      const std::size_t reach = reach_.empty() ? layers_ : reach_[first] + 1;
      const double released = computed_[first];
      const auto in_time = [&](std::size_t layer) {
        return setups + arrived_[layer + 1] - released <= start;
      };
      const std::size_t end = FirstThatIsNot(in_time, first, reach);  // one past the segment's last layer
      if (end < reach) next = std::min(next, setups + arrived_[end + 1] - released);
      if (end == first) return {false, next};
      needed = std::max(needed, setups + arrived_[end] - released);
      ends_.push_back(end);
      first = end;
    }
    return {true, needed};
  }

  const std::vector<std::size_t>& ends() const { return ends_; }

  // No plan is faster: every layer arrives after at least one set-up.
  double LowerBound() const {
    double bound = 0;
    for (std::size_t i = 0; i < layers_; ++i)
      bound = std::max(bound, setup_ + arrived_[i + 1] - computed_[i]);
    return bound;
  }
  // Every layer is a segment by itself, and computation waits for all of them.
  double UpperBound() const { return static_cast<double>(layers_) * setup_ + arrived_[layers_]; }

 private:
  // The last layer that a segment starting at each layer may hold, with two pointers.
  void FindReach(const SegmentBound& bound) {
    reach_.resize(layers_);
    double size = 0;
    std::size_t last = 0;  // one past
    for (std::size_t first = 0; first < layers_; ++first) {
      if (last == first) size = bound.sizes[last++];
      while (last < layers_ && size + bound.sizes[last] <= bound.most) size += bound.sizes[last++];
      reach_[first] = last - 1;
      size -= bound.sizes[first];
    }
  }

  const double setup_;
  const std::size_t layers_;
  std::vector<double> arrived_;   // prefix sums of the transfers, without set-up
  std::vector<double> computed_;  // prefix sums of the computation
  std::vector<std::size_t> reach_;
  std::vector<std::size_t> ends_;
};

}  // namespace

PassTimeline ForwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan) {
  PassTimeline timeline;
  double link = 0;
  double processor = 0;
  for (const LayerRun& run : plan) {
    const double begin = link;
    link += profile.setup;
    for (std::size_t layer = run.first; layer <= run.last; ++layer) link += profile.transfer[layer];
    timeline.transfers.push_back({begin, link});
    processor = std::max(processor, link);
    for (std::size_t layer = run.first; layer <= run.last; ++layer) {
      timeline.layers.push_back({processor, processor + profile.compute[layer]});
      processor += profile.compute[layer];
    }
  }
  timeline.finish = processor;
  return timeline;
}

PassTimeline BackwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan) {
  PassTimeline timeline;
  timeline.layers.resize(profile.compute.size());
  timeline.transfers.resize(plan.size());
  double link = 0;
  double processor = 0;
  for (std::size_t segment = plan.size(); segment-- > 0;) {
    const LayerRun& run = plan[segment];
    double duration = profile.setup;
    for (std::size_t layer = run.last + 1; layer-- > run.first;) {
      timeline.layers[layer] = {processor, processor + profile.compute[layer]};
      processor += profile.compute[layer];
      duration += profile.transfer[layer];
    }
    const double begin = std::max(link, processor);
    link = begin + duration;
    timeline.transfers[segment] = {begin, link};
  }
  timeline.finish = std::max(link, processor);
  return timeline;
}

double FinishTime(const PassProfile& profile, std::span<const LayerRun> plan) {
  return ForwardTimeline(profile, plan).finish;
}

std::string_view NameOf(TransferStrategy strategy) {
  constexpr std::string_view kNames[] = {"sequential", "layerwise", "ibatch", "optimal"};
  return kNames[static_cast<std::size_t>(strategy)];
}

StatusOr<TransferStrategy> ParseTransferStrategy(std::string_view name) {
  return ParseName("strategy", kTransferStrategies, name);
}

TransferPlan PlanTransfers(TransferStrategy strategy, const PassProfile& profile, const SegmentBound& bound) {
  const std::size_t layers = profile.transfer.size();
  TRIBUTARY_CHECK(layers > 0 && profile.compute.size() == layers);
  TRIBUTARY_CHECK(bound.sizes.empty() || bound.sizes.size() == layers);
  switch (strategy) {
    case TransferStrategy::kSequential:
      return Cut({{0, layers - 1}}, bound);
    case TransferStrategy::kLayerwise:
      return Layerwise(layers);
    case TransferStrategy::kIBatch:
      return Cut(IBatch(profile), bound);
    case TransferStrategy::kOptimal:
      return OptimalPlan(profile, bound);
  }
  return {};
}

TransferPlan OptimalPlan(const PassProfile& profile, const SegmentBound& bound) {
  TRIBUTARY_CHECK(!profile.transfer.empty() && profile.compute.size() == profile.transfer.size());
  PlanSearch search(profile, bound);
  double low = search.LowerBound();
  double high = search.UpperBound();
  // The optimum is usually a few set-ups above the lower bound, so doubling strides find it sooner than
  // bisection. Both bounds move to arrival times, so they meet exactly.
  double stride = 0;
  for (;;) {
    const PlanSearch::Verdict verdict = search.Try(std::min(high, low + stride));
    (verdict.feasible ? high : low) = verdict.start;
    if (verdict.feasible) break;
    stride = std::max({2 * stride, profile.setup, (high - low) * 0x1p-20});
  }
  while (low < high) {
    // If there is no number between the two, the optimum is one of them.
    const double middle = std::max(low, std::min(std::nextafter(high, low), low + (high - low) / 2));
    const PlanSearch::Verdict verdict = search.Try(middle);
    if (verdict.feasible) {
      high = verdict.start;
      if (middle == low) break;
    } else {
      low = verdict.start;
    }
  }
  TRIBUTARY_CHECK(search.Try(high).feasible);
  TransferPlan plan;
  std::size_t begin = 0;
  for (const std::size_t end : search.ends()) {
    plan.push_back({begin, end - 1});
    begin = end;
  }
  return plan;
}

}  // namespace tributary::inline policy
