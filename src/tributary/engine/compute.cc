#include "tributary/engine/compute.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "tributary/base/check.h"

namespace tributary {

void SetComputeThreads(int threads) {
  TRIBUTARY_CHECK(threads >= 1);
  at::set_num_threads(threads);
}

int ComputeThreads() { return at::get_num_threads(); }

std::string TorchVersion() { return TORCH_VERSION; }

}  // namespace tributary
