#include "tributary/coordinator/cut_check.h"

#include <algorithm>
#include <cmath>

namespace tributary {

bool Finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

Status CheckCutBatch(const SplitNetwork& network, DeviceId device, std::size_t samples, int crossings,
                     const CutBatch& batch) {
  const CutWire& wire = network.wire;
  const std::string who = "device " + std::to_string(device.value) + " sends ";
  if (batch.crossing < 0 || batch.crossing >= crossings) {
    return InvalidArgument(who + "something for crossing " + std::to_string(batch.crossing) +
                           " of the cut; there are " + std::to_string(crossings) + ", counted from 0");
  }
  const std::size_t values = samples * wire.Up(batch.crossing).values,
                    labels = wire.labels_travel() ? samples : 0;
  if (batch.values.size() != values || batch.labels.size() != labels) {
    return InvalidArgument(who + std::to_string(batch.values.size()) + " values and " +
                           std::to_string(batch.labels.size()) + " labels over the cut for " +
                           std::to_string(samples) + " samples; expected: " + std::to_string(values) +
                           " and " + std::to_string(labels));
  }
  if (!Finite(batch.values)) return InvalidArgument(who + "a value over the cut that is not a number");
  const std::int64_t classes = network.whole->graph.classes();
  for (const std::int32_t label : batch.labels) {
    if (label >= 0 && label < classes) continue;
    return InvalidArgument(who + "label " + std::to_string(label) + " where there are " +
                           std::to_string(classes) + " classes");
  }
  return OkStatus();
}

Status UnsoundCut(DeviceId device) {
  return InvalidArgument("the loss of what device " + std::to_string(device.value) +
                         " sends over the cut is not a number; lower the learning rate");
}

}  // namespace tributary
