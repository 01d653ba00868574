#include "tributary/explore/snapshots.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tributary/data/batches.h"
#include "tributary/model/initialise.h"
#include "tributary/model/kept_counts.h"

namespace tributary {
namespace {

// Of the whole way: learning is fastest at first.
constexpr double kMoments[kSnapshots] = {1.0 / 12, 1.0 / 3, 1};
// Some steps are of nearly the whole network, and none of so little of it that it learns nothing.
constexpr double kHighestLevel = 0.5;

}  // namespace

std::size_t StepsToSnapshot(const ExploreOptions& options, std::size_t snapshot) {
  const auto at = [&](std::size_t which) {
    const double share = kMoments[which] * static_cast<double>(options.snapshot_steps);
    return std::max(which + 1, static_cast<std::size_t>(std::llround(share)));
  };
  return snapshot == 0 ? at(0) : at(snapshot) - at(snapshot - 1);
}

StatusOr<Snapshot> NextSnapshot(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                const ExplorationData& data, const std::vector<Snapshot>& done,
                                const std::function<bool(std::size_t steps)>& should_stop) {
  ThinTraining training(model, options);
  if (done.empty()) {
    Snapshot start(*model);
    InitialiseWeights(*model, options.seed, start.parameters.span(), start.statistics.span());
    training.Begin(start);
  } else {
    training.Begin(done.back());
  }
  const std::uint64_t stream = done.size();
  const auto batches =
      data.DrawBatches(StepsToSnapshot(options, done.size()), options.batch, options.seed, stream);
  Batch batch;
  for (std::size_t step = 0; step < batches.size(); ++step) {
    if (should_stop && should_stop(step)) return Cancelled("the training of the snapshots was interrupted");
    GatherBatch(*data.dataset, batches[step], {}, {}, batch);
    Rng chance = Rng::ForStream(options.seed, DeviceId{stream}, "snapshot", step);
    training.Keep(
        KeptCounts(model->channels, RatesAroundALevel(model->channels.groups.size(), kHighestLevel, chance)));
    TRIBUTARY_ASSIGN_OR_RETURN(const double loss, training.Step({batch.inputs, batch.labels}, chance));
    if (!std::isfinite(loss)) {
      return InvalidArgument("the loss is no longer a number at step " + std::to_string(step + 1) +
                             " to snapshot " + std::to_string(stream + 1) +
                             "; lower the learning rate (--lr)");
    }
  }
  Snapshot next(*model);
  std::ranges::copy(training.weights().parameters.span(), next.parameters.data());
  std::ranges::copy(training.weights().statistics.span(), next.statistics.data());
  return next;
}

}  // namespace tributary
