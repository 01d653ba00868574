#include "tributary/engine/compute.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>
#include <sched.h>
#include <sys/syscall.h>
#include <torch/version.h>
#include <unistd.h>

#include <cstdint>
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

void AskForShortTimeSlices() {
#if defined(SYS_sched_getattr) && defined(SYS_sched_setattr)
  // The kernel's sched_attr, first version. Not every C library declares it.
  struct {
    std::uint32_t size = 48, policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t slice_ns = 0, deadline_ns = 0, period_ns = 0;
  } attributes;
  static_assert(sizeof(attributes) == 48);
  constexpr std::uint64_t kShortestNs = 100'000;  // that the kernel allows
  if (::syscall(SYS_sched_getattr, 0, &attributes, attributes.size, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER || attributes.slice_ns <= kShortestNs) return;
  attributes.slice_ns = kShortestNs;
  (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

void SetComputeThreads(int threads) {
  TRIBUTARY_CHECK(threads >= 1);
  at::set_num_threads(threads);
  QuietBlasThreads();
}

std::string TorchVersion() { return TORCH_VERSION; }

}  // namespace tributary::inline engine
