#include "tributary/explore/exploration_data.h"

#include <algorithm>
#include <string>

#include "tributary/data/batches.h"

namespace tributary {
namespace {

constexpr std::size_t kCalibrationSamples = 256;
constexpr DeviceId kDivision{~std::uint64_t{0}};

}  // namespace

StatusOr<ExplorationData> ExplorationData::Divide(const Dataset& dataset, std::size_t samples,
                                                  std::size_t batch, std::uint64_t seed) {
  const std::size_t all = dataset.size();
  const std::size_t judged = std::min(samples, all / 4);
  const std::size_t calibrated = std::min(kCalibrationSamples, all / 4);
  if (judged == 0 || all - judged - calibrated < batch) {
    return InvalidArgument("the data set " + dataset.name() + " has " + std::to_string(all) +
                           " training samples; to explore with mini-batches of " + std::to_string(batch) +
                           " takes at least " + std::to_string(2 * batch + 4));
  }
  const std::vector<std::uint32_t> order = EpochOrder(all, seed, kDivision, 0);
  const auto at = [&](std::size_t position) { return order.begin() + static_cast<std::ptrdiff_t>(position); };
  ExplorationData data;
  data.dataset = &dataset;
  data.evaluation.assign(order.begin(), at(judged));
  data.calibration.assign(at(judged), at(judged + calibrated));
  data.training.assign(at(judged + calibrated), order.end());
  return data;
}

std::vector<std::vector<std::uint32_t>> ExplorationData::DrawBatches(std::size_t count, std::size_t batch,
                                                                     std::uint64_t seed,
                                                                     std::uint64_t stream) const {
  std::vector<std::vector<std::uint32_t>> batches;
  for (std::uint64_t epoch = 0; batches.size() < count; ++epoch) {
    const std::vector<std::uint32_t> order = EpochOrder(training.size(), seed, DeviceId{stream}, epoch);
    for (std::size_t at = 0; at + batch <= order.size() && batches.size() < count; at += batch) {
      std::vector<std::uint32_t>& one = batches.emplace_back();
      for (std::size_t i = at; i < at + batch; ++i) one.push_back(training[order[i]]);
    }
  }
  return batches;
}

}  // namespace tributary
