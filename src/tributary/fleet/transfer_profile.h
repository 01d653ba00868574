#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline fleet {

// Costs of one training step on a device, in finite milliseconds ≥ 0: the input of transfer planning. A layer
// is a transfer unit. Layers are in the order of execution.
struct TransferProfile {
  struct Layer {
    std::string name;
    double pull_ms = 0;
    double forward_ms = 0;
    double backward_ms = 0;
    double push_ms = 0;
    std::int64_t bytes = 0;  // of its parameters; 0 if unknown
  };

  // Per segment.
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

// {"setup_ms": x, "layers": [{"name": …, "pull_ms": a, "forward_ms": b, "backward_ms": c, "push_ms": d}, …]},
// optionally "pull_setup_ms" and "push_setup_ms", and "bytes" of a layer. Errors name layer and key.
StatusOr<TransferProfile> ParseTransferProfile(std::string_view text);
std::string FormatTransferProfile(const TransferProfile& profile);

}  // namespace tributary::inline fleet
