#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

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

}  // namespace tributary::inline policy
