#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/scheduling/strategies.h"

namespace tributary::inline fleet {

// What one training step costs a device, layer by layer: what plans of transfers are made from. Milliseconds, finite and
// not negative. Layers in forward order; a layer is a transfer unit, and on a network with branches the order is that of
// execution.
struct TransferProfile {
  struct Layer {
    std::string name;
    double pull_ms = 0;
    double forward_ms = 0;
    double backward_ms = 0;
    double push_ms = 0;
    std::int64_t bytes = 0;  // of its parameters; 0 if not stated
  };

  // Of every segment, in each direction.
  double pull_setup_ms = 0;
  double push_setup_ms = 0;
  std::vector<Layer> layers;

  PassProfile Forward() const { return Pass(pull_setup_ms, &Layer::pull_ms, &Layer::forward_ms); }
  PassProfile Backward() const { return Pass(push_setup_ms, &Layer::push_ms, &Layer::backward_ms); }
  // No bound without `most_bytes`.
  SegmentBound Bound(std::optional<std::int64_t> most_bytes) const;

 private:
  PassProfile Pass(double setup, double Layer::*transfer, double Layer::*compute) const;
};

inline constexpr std::size_t kMostProfileLayers = 1'000'000;

// {"setup_ms": x, "layers": [{"name": …, "pull_ms": a, "forward_ms": b, "backward_ms": c, "push_ms": d}, …]}. Optional:
// "pull_setup_ms" and "push_setup_ms" where they differ, and "bytes" of a layer. Any text may be given: what is wrong is
// said with the layer and the key.
StatusOr<TransferProfile> ParseTransferProfile(std::string_view text);
std::string FormatTransferProfile(const TransferProfile& profile);

}  // namespace tributary::inline fleet
