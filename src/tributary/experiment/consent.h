#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/split_wire.h"

namespace tributary::inline experiment {

// Data that can leave a device besides updates and timing measurements, by their names for --allow.
inline constexpr std::string_view kSamplesLeave = "samples";
inline constexpr std::string_view kActivationsLeave = "activations";
inline constexpr std::string_view kLabelsLeave = "labels";
inline constexpr std::string_view kLabelCountsLeave = "label-counts";

// What the experiment requires its devices to disclose. `cut` is set for a split network. If no layer with
// parameters precedes the cut, the activations are the samples themselves, and both need consent.
std::vector<std::string> DisclosuresOf(const Experiment& experiment, const std::optional<SplitWire>& cut);

// What the owner allows to leave the device. The device checks it once for the experiment and again for every
// message, regardless of what the coordinator claims to need.
class Consent {
 public:
  Consent() = default;  // allows nothing
  // InvalidArgument for an unknown name.
  static StatusOr<Consent> Parse(std::vector<std::string> names);
  bool Allows(std::string_view what) const;
  // InvalidArgument, with the flag to add, if `what` may not leave the device.
  Status Check(std::string_view what) const;

 private:
  std::vector<std::string> allowed_;
};

}  // namespace tributary::inline experiment
