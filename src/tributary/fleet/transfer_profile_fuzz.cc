#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tributary/fleet/transfer_profile.h"

// Any text is answered with a profile that can be planned and written, or with words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = tributary::ParseTransferProfile({reinterpret_cast<const char*>(data), size});
  if (!profile.ok()) return 0;
  const auto forward = profile->Forward();
  const double optimal = FinishTime(forward, tributary::OptimalPlan(forward));
  const double layerwise =
      FinishTime(forward, PlanTransfers(tributary::TransferStrategy::kLayerwise, forward));
  if (!(optimal <= layerwise * (1 + 1e-9))) std::abort();
  if (!tributary::ParseTransferProfile(FormatTransferProfile(*profile)).ok()) std::abort();
  return 0;
}
