#include "tributary/cli/cost_profile.h"

#include <filesystem>

#include "tributary/experiment/quantity.h"
#include "tributary/fleet/front_file.h"

namespace tributary::inline cli {

StatusOr<CostModel> ReadCostProfile(const std::string& text) {
  if (!std::filesystem::exists(text)) {
    const auto rate = ParseQuantity(text, Unit::kMacsPerSecond);
    if (!rate.ok()) {
      return InvalidArgument(
          "--profile " + text + ": neither a file nor a rate; give the multiply-accumulates that the" +
          " device does in a second (\"300M\", \"2G\"), or a front that was explored on it (FILE.json)");
    }
    if (*rate < 1) return InvalidArgument("--profile " + text + ": a device does at least 1 MAC in a second");
    return CostModel{.fixed = 0, .per_mac = 1 / *rate, .per_byte = 0};
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const ParetoFront front, ReadFront(text));
  const CostModel& model = front.cost_model;
  if (!(model.per_mac > 0 || model.per_byte > 0)) {
    return InvalidArgument(
        text + ": its cost model says that all sub-networks take the same time; explore it on the device");
  }
  return model;
}

}  // namespace tributary::inline cli
