#include "tributary/device/owner_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace tributary::inline device {
namespace {

// About what this device holds of a network: what training takes (TrainingMemory), and the weights as they come, twice.
double MemoryFor(const Model& held, std::size_t batch) {
  const auto weights = static_cast<double>(TotalParameters(held.costs)) * sizeof(float);
  const auto of_sample = static_cast<double>(TrainingMemory(held.costs, 1).value) - 3 * weights;
  return 5 * weights + of_sample * static_cast<double>(batch);
}

Bytes InBytes(double bytes) { return {static_cast<std::int64_t>(std::min(bytes, 9e18))}; }

}  // namespace

Bytes MemoryToHave() {
  double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    memory = std::min(memory, static_cast<double>(limit.rlim_cur));
  return InBytes(memory);
}

Status OwnerLimits::CheckNetwork(const Model& held, std::size_t batch) const {
  const std::int64_t parameters = TotalParameters(held.costs);
  if (most_parameters > 0 && parameters > most_parameters) {
    return InvalidArgument(
        fmt::format("the network has {} parameters, and the owner of this device allows {}; "
                    "--most-parameters changes that",
                    parameters, most_parameters));
  }
  const Bytes allowed = most_memory.value > 0 ? most_memory : MemoryToHave();
  const double needed = MemoryFor(held, batch);
  if (needed <= static_cast<double>(allowed.value)) return OkStatus();
  return InvalidArgument(
      fmt::format("training the network with batches of {} takes about {} of memory, and {}; choose a "
                  "smaller batch or network{}",
                  batch, FormatBytes(InBytes(needed)),
                  most_memory.value > 0 ? "the owner of this device allows " + FormatBytes(allowed)
                                        : "this device has " + FormatBytes(allowed),
                  most_memory.value > 0 ? ", or change --most-memory" : ""));
}

Status OwnerLimits::CheckWork(const Work& work, const Model& held, std::int64_t samples, bool streams) const {
  std::size_t batch = 1;
  std::uint64_t steps = 0;
  if (const auto* const calibrate = std::get_if<CalibrateAssignment>(&work)) {
    batch = calibrate->batch;
    steps = static_cast<std::uint64_t>(calibrate->steps);
  }
  const auto* const train = std::get_if<TrainAssignment>(&work);
  if (train != nullptr) {
    batch = train->batch;
    const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(samples, 0));
    const std::uint64_t per_epoch =
        (all + std::max<std::size_t>(batch, 1) - 1) / std::max<std::size_t>(batch, 1);
    steps = train->epochs > 0 ? static_cast<std::uint64_t>(train->epochs) * per_epoch
                              : static_cast<std::uint64_t>(train->steps);
  }
  if (steps > static_cast<std::uint64_t>(most_steps)) {
    return InvalidArgument(fmt::format(
        "an assignment of {} steps, and the owner of this device allows {}; --most-steps changes that", steps,
        most_steps));
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckNetwork(held, batch));
  if (train == nullptr) return OkStatus();
  const std::size_t first = streams ? batch : SamplesAt(*train, samples, 0);
  const auto learnt =
      steps <= 1 ? static_cast<double>(first)
                 : static_cast<double>(steps) *
                       std::min(static_cast<double>(batch), streams ? 1e18 : static_cast<double>(samples));
  if (learnt >= static_cast<double>(least_batch)) return OkStatus();
  return InvalidArgument(
      fmt::format("an update of {} samples, and the owner of this device allows no fewer than {}, "
                  "because samples could be found out from it; --least-batch changes that",
                  learnt, least_batch));
}

Status OwnerLimits::CheckBytes(Bytes bytes) const {
  if (most_bytes.value == 0 || bytes <= most_bytes) return OkStatus();
  return InvalidArgument(fmt::format(
      "an assignment that transfers {}, and the owner of this device allows {}; --most-bytes changes that",
      FormatBytes(bytes), FormatBytes(most_bytes)));
}

Status OwnerLimits::CheckTime(Duration taken) const {
  if (taken <= most_time) return OkStatus();
  return ResourceExhausted(fmt::format(
      "the assignment took more than {}, which the owner of this device allows; --most-seconds changes that",
      FormatDuration(most_time)));
}

}  // namespace tributary::inline device
