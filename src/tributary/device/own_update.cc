#include "tributary/device/own_update.h"

#include <limits>

namespace tributary::inline device {

StatusOr<std::vector<float>> LearnOwnUpdate(WorkerPool& pool, std::span<Worker> workers,
                                            const TrainAssignment& assignment, const SharedWeights& weights,
                                            const LocalData& data) {
  constexpr DeviceId kCoordinator{std::numeric_limits<std::uint64_t>::max()};  // keys its random numbers
  std::vector<float> parameters;
  TRIBUTARY_RETURN_IF_ERROR(pool.Run(1, [&](std::size_t worker, std::size_t) -> Status {
    const auto trained = workers[worker].Train(assignment, weights, kCoordinator, data);
    if (trained.status().code() == StatusCode::kInvalidArgument)
      return Unavailable("the loss of the coordinator's own samples is not finite");
    if (!trained.ok()) return trained.status();
    parameters.assign(trained->update.parameters.begin(), trained->update.parameters.end());
    return OkStatus();
  }));
  return parameters;
}

}  // namespace tributary::inline device
