#include "tributary/coordinator/split_setup.h"

#include "tributary/coordinator/rest_copies.h"
#include "tributary/coordinator/rest_in_turn.h"
#include "tributary/coordinator/rest_of_network.h"

namespace tributary {

std::unique_ptr<SplitHalf> MakeSplitHalf(const Experiment& experiment, const SplitNetwork& network) {
  const std::uint64_t seed = experiment.goal.seed;
  const double smoothing = experiment.train.label_smoothing;
  switch (experiment.split.variant) {
    case SplitVariant::kSplitFed1:
      return std::make_unique<RestCopies>(network, seed, smoothing);
    case SplitVariant::kSplitFed2:
      return std::make_unique<RestInTurn>(network, seed, smoothing);
    case SplitVariant::kParallel:
      break;
  }
  return std::make_unique<RestOfNetwork>(network, seed, smoothing);
}

SplitSetup SetupOf(const Experiment& experiment, const SplitNetwork& network, SplitHalf& half) {
  const auto ranges = [&](const Layout& whole, const Layout& held) {
    const std::size_t front = whole.From(network.cut + 1);
    return HeldRanges{front, held.size - front, whole.size};
  };
  return {ranges(network.whole->parameters, network.held->parameters),
          ranges(network.whole->statistics, network.held->statistics), &half,
          static_cast<std::size_t>(network.whole->graph.classes()),
          [experiment, network](std::span<const DeviceProfile> devices) {
            return StepDelays(experiment, network, devices);
          }};
}

}  // namespace tributary
