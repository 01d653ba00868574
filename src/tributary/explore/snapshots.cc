#include "tributary/explore/snapshots.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tributary/data/batches.h"
#include "tributary/model/initialise.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary {
namespace {

// Of the whole way: learning is fastest at first.
constexpr double kMoments[kSnapshots] = {1.0 / 12, 1.0 / 3, 1};

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
  Snapshot next(*model);
  if (done.empty()) {
    InitialiseWeights(*model, options.seed, next.parameters.span(), next.statistics.span());
  } else {
    std::ranges::copy(done.back().parameters.span(), next.parameters.data());
    std::ranges::copy(done.back().statistics.span(), next.statistics.data());
  }
  FlatBuffer gradients(model->parameters.size);
  Executor executor(model, {next.parameters.span(), next.statistics.span(), gradients.span()});
  OptimiserOptions how;
  how.momentum = options.momentum;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto optimiser, MakeOptimiser(how, gradients.size()));
  const std::uint64_t stream = done.size();
  const auto batches = data.DrawBatches(StepsToSnapshot(options, done.size()), options.batch, options.seed, stream);
  Batch batch;
  for (std::size_t step = 0; step < batches.size(); ++step) {
    if (should_stop && should_stop(step)) return Cancelled("the training of the snapshots was interrupted");
    GatherBatch(*data.dataset, batches[step], {}, {}, batch);
    Rng dropout = Rng::ForStream(options.seed, DeviceId{stream}, "dropout", step);
    PassOptions pass;
    pass.rng = &dropout;
    TRIBUTARY_ASSIGN_OR_RETURN(const PassResult result, executor.Train({batch.inputs, batch.labels}, pass));
    if (!std::isfinite(result.loss)) {
      return InvalidArgument("the loss of the full network is no longer a number at step " + std::to_string(step + 1) +
                             " to snapshot " + std::to_string(stream + 1) + "; lower the learning rate (--lr)");
    }
    optimiser->Step(next.parameters.span(), gradients.span(), options.learning_rate);
  }
  return next;
}

}  // namespace tributary
