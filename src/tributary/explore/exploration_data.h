#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"

namespace tributary {

// The training samples of a data set, divided once: candidates all learn from the same ones, and are judged by others.
struct ExplorationData {
  const Dataset* dataset = nullptr;
  std::vector<std::uint32_t> evaluation;   // whose loss is the measure
  std::vector<std::uint32_t> calibration;  // from which batch norms' statistics are estimated before that
  std::vector<std::uint32_t> training;

  // The data set must outlive it. Small ones give a quarter each to evaluation and calibration; refused where not even a
  // mini-batch is left for training.
  static StatusOr<ExplorationData> Divide(const Dataset& dataset, std::size_t samples, std::size_t batch,
                                          std::uint64_t seed);

  // `count` mini-batches for training, without repeats until all have been used; other streams are other orders.
  std::vector<std::vector<std::uint32_t>> DrawBatches(std::size_t count, std::size_t batch,
                                                      std::uint64_t seed, std::uint64_t stream) const;
};

}  // namespace tributary
