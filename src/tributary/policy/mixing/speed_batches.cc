#include "tributary/policy/mixing/speed_batches.h"

#include <algorithm>

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

std::vector<std::size_t> SpeedBatches(std::size_t batch, std::span<const double> speeds) {
  std::vector<std::size_t> batches = DivideByShares(batch * speeds.size(), speeds);
  for (std::size_t& samples : batches) samples = std::max<std::size_t>(samples, 1);
  return batches;
}

}  // namespace tributary
