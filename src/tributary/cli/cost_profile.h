#pragma once

#include <string>

#include "tributary/base/status.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary::inline cli {

// What a training step takes on the device that `text` names, without measuring it here. Either
//   a rate as in the `compute` of an experiment ("300M", "2GMAC/s"): a step takes its multiply-accumulates over the rate,
//     which is what the simulator charges; or
//   a front that was explored on such a device (FILE.json): its fitted cost model.
// An error in words for what is neither.
StatusOr<CostModel> ReadCostProfile(const std::string& text);

}  // namespace tributary::inline cli
