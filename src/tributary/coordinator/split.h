#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tributary/coordinator/held_sink.h"
#include "tributary/coordinator/round_method.h"
#include "tributary/coordinator/split_half.h"

namespace tributary {

// What the method `split` needs besides the experiment.
struct SplitSetup {
  HeldRanges parameters, statistics;  // what devices have of the network
  SplitHalf* half = nullptr;          // and what the coordinator has
  std::size_t classes = 0;
  // How long a step should take each of these, in any unit.
  std::function<std::vector<double>(std::span<const DeviceProfile>)> delays;
};

// split: a global batch is drawn from the devices' samples (policy/sampling); devices run the front of the network on
// their part of it, the coordinator the rest, and one step of the coordinator's optimiser moves both.
StatusOr<std::unique_ptr<RoundMethod>> MakeSplitMethod(const Experiment& experiment, std::size_t parameters,
                                                       SplitSetup setup);

// split in a variant that averages: rounds of local steps on the devices' fronts, each of which goes over the cut, and the
// weighted mean of their changes, as in federated; the coordinator's part adds its own.
StatusOr<std::unique_ptr<RoundMethod>> MakeSplitFed(const Experiment& experiment, std::size_t parameters,
                                                    SplitSetup setup);

}  // namespace tributary
