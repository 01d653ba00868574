#include "tributary/engine/compute.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>
#include <torch/version.h>

#include <limits>

#include "tributary/base/check.h"

namespace tributary::inline engine {
namespace {

// One build variant of OpenBLAS has a separate thread pool, which would compete with torch's for the cores
// (measured: 1.7 × the time for a small network on two cores). It is limited to one thread; the OpenMP
// variant shares torch's threads.
void QuietBlasThreads() {
  constexpr int kOwnThreadPool = 1;
  const auto get_parallel = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_parallel"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (get_parallel != nullptr && set_threads != nullptr && get_parallel() == kOwnThreadPool) set_threads(1);
}

}  // namespace

void KeepFreedMemory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

void SetComputeThreads(int threads) {
  TRIBUTARY_CHECK(threads >= 1);
  at::set_num_threads(threads);
  QuietBlasThreads();
}

std::string TorchVersion() { return TORCH_VERSION; }

}  // namespace tributary::inline engine
