#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// Where transfers are cut so that they hide behind computation.
//
// A device pulls all parameters, runs forward and backward, and pushes all gradients over a serial link. Transfers are
// cut into segments of consecutive layers; every segment pays a set-up time, the first one too. Forward, a layer
// computes when its whole segment has arrived and the layer before it is done. Backward, from the last layer to the
// first, a segment leaves when all its layers are done and the link is free.
//
// Seen backwards in time, pushing behind the backward pass is pulling before a forward pass. So one direction is enough:
// everything here is about a `PassProfile`, with layers in forward order, and holds for both.

// A pass over the layers and the transfers that belong to it. Seconds, or any other unit, finite and not negative; both
// vectors have one entry per layer.
struct PassProfile {
  double setup = 0;              // of every segment
  std::vector<double> transfer;  // of a layer's parameters (forward) or gradients (backward)
  std::vector<double> compute;   // of the layer
};

// A run of layers, 0-based, both ends included.
struct LayerRun {
  std::size_t first = 0;
  std::size_t last = 0;
  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

// Segments in forward order that together hold every layer once.
using TransferPlan = std::vector<LayerRun>;

// When the pass is over: forward, from the first byte to the last layer's end; backward, from the last layer's start to
// the last byte.
double FinishTime(const PassProfile& profile, std::span<const LayerRun> plan);

// When each transfer and each computation takes place, for a picture or an account of what was hidden.
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
// Segments leave as soon as they can, from the last one to the first.
PassTimeline BackwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan);

enum class TransferStrategy {
  kSequential,  // one segment: nothing overlaps, and set-up is paid once
  kLayerwise,   // a segment per layer: all that can overlap does, and set-up is paid every time
  kIBatch,      // each segment as long as computation already released covers its transfer
  kOptimal,     // no plan finishes earlier
};
inline constexpr TransferStrategy kTransferStrategies[] = {
    TransferStrategy::kSequential, TransferStrategy::kLayerwise, TransferStrategy::kIBatch,
    TransferStrategy::kOptimal};

std::string_view NameOf(TransferStrategy strategy);
StatusOr<TransferStrategy> ParseTransferStrategy(std::string_view name);

// How an experiment wants transfers to be cut.
struct TransferOptions {
  TransferStrategy strategy = TransferStrategy::kSequential;
  // Bytes that one segment may have; a layer that has more is a segment of its own. Smaller bounds what is on its way at
  // once and pays more set-ups.
  std::optional<std::int64_t> largest_segment;
  // Plans are made anew when a step takes longer or shorter than planned by this share of it: less follows changes
  // sooner and is moved by noise.
  double drift = 0.1;
  // Updates go in one segment whatever the strategy: something about them is decided over all of them at once.
  bool whole_push = false;
  friend bool operator==(const TransferOptions&, const TransferOptions&) = default;
};

// How many transfer units a segment may hold together, in a unit of the caller's. A layer that is larger by itself makes
// a segment of its own.
struct SegmentBound {
  std::vector<double> sizes;  // per layer; empty for no bound
  double most = 0;
};

// The segments of one pass, which must have at least one layer. The bound holds for every strategy: a segment that is
// too long is cut where it must be.
TransferPlan PlanTransfers(TransferStrategy strategy, const PassProfile& profile,
                           const SegmentBound& bound = {});

// The exact optimum, in time near-linear in the layers. Let computation start at some time I and run without a gap; then
// layer s starts at I plus the computation before it, and the k-th segment, if it begins with layer s, must have
// arrived by then. So each segment takes as many layers as arrive in time, and I is feasible if the last layer is
// reached. The smallest feasible I is found from below, by strides that double and then halve, between bounds that are
// themselves arrival times: a feasible I falls to what its plan needs, an infeasible one rises to the next time at which
// any segment could take one layer more.
TransferPlan OptimalPlan(const PassProfile& profile, const SegmentBound& bound = {});

}  // namespace tributary::inline policy
