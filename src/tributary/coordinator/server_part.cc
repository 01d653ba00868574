#include "tributary/coordinator/server_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tributary/coordinator/parallel_split_server.h"
#include "tributary/coordinator/split_fed_server.h"

namespace tributary::inline coordinator {

bool Finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

Status CheckSplitBatch(const SplitNetwork& network, DeviceId device, std::size_t samples, int crossings,
                       const SplitBatch& batch) {
  const SplitWire& wire = network.wire;
  const std::string who = fmt::format("device {} sends ", device.value);
  if (batch.crossing < 0 || batch.crossing >= crossings) {
    return InvalidArgument(fmt::format("{}something for crossing {} of the cut; there are {}, counted from 0",
                                       who, batch.crossing, crossings));
  }
  const std::size_t values = samples * wire.Up(batch.crossing).values,
                    labels = wire.labels_travel() ? samples : 0;
  if (batch.values.size() != values || batch.labels.size() != labels) {
    return InvalidArgument(
        fmt::format("{}{} values and {} labels over the cut for {} samples; expected: {} and {}", who,
                    batch.values.size(), batch.labels.size(), samples, values, labels));
  }
  if (!Finite(batch.values)) return InvalidArgument(who + "a value over the cut that is not a number");
  const std::int64_t classes = network.whole->graph.classes();
  for (const std::int32_t label : batch.labels) {
    if (label >= 0 && label < classes) continue;
    return InvalidArgument(fmt::format("{}label {} where there are {} classes", who, label, classes));
  }
  return OkStatus();
}

Status UnsoundSplit(DeviceId device) {
  return InvalidArgument("the loss for the batch of device " + std::to_string(device.value) +
                         " is not finite; use a lower learning rate");
}

std::unique_ptr<ServerPart> MakeServerPart(const Experiment& experiment, const SplitNetwork& network) {
  const std::uint64_t seed = experiment.goal.seed;
  const double smoothing = experiment.train.label_smoothing;
  switch (experiment.split.variant) {
    case SplitVariant::kSplitFed1:
      return std::make_unique<SplitFedV1Server>(network, seed, smoothing);
    case SplitVariant::kSplitFed2:
      return std::make_unique<SplitFedV2Server>(network, seed, smoothing);
    case SplitVariant::kParallel:
      break;
  }
  return std::make_unique<ParallelSplitServer>(network, seed, smoothing);
}

SplitSetup SetupOf(const Experiment& experiment, const SplitNetwork& network, ServerPart& server_part) {
  const auto ranges = [&](const Layout& whole, const Layout& held) {
    const std::size_t front = whole.From(network.cut + 1);
    return ClientPartRanges{front, held.size - front, whole.size};
  };
  return {ranges(network.whole->parameters, network.held->parameters),
          ranges(network.whole->statistics, network.held->statistics), &server_part,
          static_cast<std::size_t>(network.whole->graph.classes()),
          [experiment, network](std::span<const DeviceProfile> devices) {
            return StepDelays(experiment, network, devices);
          }};
}

}  // namespace tributary::inline coordinator
