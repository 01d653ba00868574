#include "tributary/explore/options.h"

#include <algorithm>
#include <string>

#include "tributary/base/number_text.h"

namespace tributary::inline explore {

Status CheckExploreOptions(const ExploreOptions& options) {
  struct Bound {
    const char* what;
    std::size_t value, least, most;
  };
  for (const auto& [what, value, least, most] :
       {Bound{"vectors of the population", options.population, kLeastPopulation, 10'000},
        {"samples of a mini-batch", options.batch, 1, 65'536},
        {"mini-batches of an evaluation", options.steps, 1, 1'000'000},
        {"mini-batches of a screening", options.screening_steps, 1, options.steps},
        {"samples that are evaluated", options.samples, 1, 10'000'000},
        {"steps to the last snapshot", options.snapshot_steps, kSnapshots, 10'000'000},
        {"threads", options.threads, 1, 1024}}) {
    if (value >= least && value <= most) continue;
    return InvalidArgument(std::string("the number of ") + what + " lies between " + std::to_string(least) +
                           " and " + std::to_string(most) + ", found " + std::to_string(value));
  }
  if (!(options.learning_rate > 0 && options.learning_rate <= 1000)) {
    return InvalidArgument("the learning rate is above 0 and at most 1000, found " +
                           NumberText(options.learning_rate));
  }
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return InvalidArgument("the momentum is at least 0 and below 1, found " + NumberText(options.momentum));
  }
  return OkStatus();
}

}  // namespace tributary::inline explore
