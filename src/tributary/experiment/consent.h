#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/split_wire.h"

namespace tributary::inline experiment {

// What can leave a device besides its updates and the measurements of its work, by the names of --allow.
inline constexpr std::string_view kSamplesLeave = "samples";
inline constexpr std::string_view kActivationsLeave = "activations";
inline constexpr std::string_view kLabelsLeave = "labels";
inline constexpr std::string_view kLabelCountsLeave = "label-counts";

// What the devices of an experiment have to disclose, derived from the experiment alone. `cut` is set for a split
// network. If no layer with parameters lies before the cut, the activations are the samples themselves, and both
// need consent.
std::vector<std::string> DisclosuresOf(const Experiment& experiment, const std::optional<SplitWire>& cut);

// What the owner of a device allows to leave it. The device checks it for the experiment as a whole, and again for
// every message, whatever the coordinator says that it needs.
class Consent {
 public:
  Consent() = default;  // nothing
  // InvalidArgument for a name that is unknown.
  static StatusOr<Consent> Parse(std::vector<std::string> names);

  bool Allows(std::string_view what) const;
  // InvalidArgument, with what the owner can do about it, if `what` may not leave the device.
  Status Check(std::string_view what) const;

 private:
  std::vector<std::string> allowed_;
};

}  // namespace tributary::inline experiment
