#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// Plans how transfers are divided into segments so that they overlap with computation.
//
// A device pulls all parameters, runs forward and backward, and pushes all gradients over a serial link.
// Transfers are divided into segments of consecutive layers; every segment pays a set-up time. Forward: a
// layer computes when its segment has arrived and the previous layer is done. Backward, from the last layer
// to the first: a segment is sent when all its layers are done and the link is free.
//
// The push of a backward pass is the time reversal of the pull of a forward pass. So the functions below
// handle one direction: a `PassProfile`, with layers in forward order, describes either.

// A pass over the layers and its transfers: one entry per layer, in any unit of time, finite, not negative.
struct PassProfile {
  double setup = 0;              // per segment
  std::vector<double> transfer;  // of a layer's parameters (forward) or gradients (backward)
  std::vector<double> compute;   // of the layer
};

// Consecutive layers, 0-based, both ends included.
struct LayerRun {
  std::size_t first = 0;
  std::size_t last = 0;
  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

// Segments in forward order that cover every layer once.
using TransferPlan = std::vector<LayerRun>;

// The end of the pass, from the first byte (forward) or the start of the last layer (backward).
double FinishTime(const PassProfile& profile, std::span<const LayerRun> plan);

// When each transfer and each computation takes place.
struct Interval {
  double begin = 0;
  double end = 0;
};
struct PassTimeline {
  std::vector<Interval> transfers;  // per segment, in forward order
  std::vector<Interval> layers;     // per layer, in forward order
  double finish = 0;
};
PassTimeline ForwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan);
// Segments are sent as soon as possible, from the last to the first.
PassTimeline BackwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan);

enum class TransferStrategy {
  kSequential,  // one segment: no overlap, one set-up
  kLayerwise,   // one segment per layer: most overlap, most set-ups
  kIBatch,      // a segment is as long as the computation already released hides
  kOptimal,     // no plan finishes earlier
};
inline constexpr TransferStrategy kTransferStrategies[] = {
    TransferStrategy::kSequential, TransferStrategy::kLayerwise, TransferStrategy::kIBatch,
    TransferStrategy::kOptimal};

std::string_view NameOf(TransferStrategy strategy);
StatusOr<TransferStrategy> ParseTransferStrategy(std::string_view name);

// The transfer settings of an experiment.
struct TransferOptions {
  TransferStrategy strategy = TransferStrategy::kSequential;
  // Maximum size of a segment in bytes; a larger layer is a segment by itself. A smaller value bounds the
  // data in flight and pays more set-ups.
  std::optional<std::int64_t> largest_segment;
  // Plans are recomputed when the step time deviates by this fraction. Smaller reacts sooner, also to noise.
  double drift = 0.1;
  // Push updates in one segment whatever the strategy, because compression selects among all their elements.
  bool whole_push = false;
  friend bool operator==(const TransferOptions&, const TransferOptions&) = default;
};

// Maximum size of a segment, in any unit. A larger layer is a segment by itself.
struct SegmentBound {
  std::vector<double> sizes;  // per layer; empty: no bound
  double most = 0;
};

// The segments of a pass with at least one layer. The bound holds for every strategy.
TransferPlan PlanTransfers(TransferStrategy strategy, const PassProfile& profile,
                           const SegmentBound& bound = {});

// The exact optimum, in time near-linear in the layers. If computation starts at time I and runs without
// gaps, layer s starts at I plus the computation before it, and a segment that begins with layer s must have
// arrived by then. So each segment takes as many layers as arrive in time, and I is feasible if the last
// layer is reached. The search for the smallest feasible I starts at a lower bound, doubles its stride, then
// bisects. Both bounds are arrival times: a feasible I falls to what its plan needs, an infeasible I rises to
// the next time at which some segment could take one more layer.
TransferPlan OptimalPlan(const PassProfile& profile, const SegmentBound& bound = {});

}  // namespace tributary::inline policy
