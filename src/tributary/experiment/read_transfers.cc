#include "tributary/experiment/sections.h"

namespace tributary {

Status ReadTransfers(Section section, TransferOptions& transfers) {
  std::vector<std::string> names;
  for (const TransferStrategy strategy : kTransferStrategies) names.emplace_back(NameOf(strategy));
  std::string name(NameOf(transfers.strategy));
  section.ReadName("strategy", "strategy", names, name);
  if (const auto strategy = ParseTransferStrategy(name); strategy.ok()) transfers.strategy = *strategy;
  std::optional<Bytes> largest;
  section.Read("largest-segment", largest);
  if (largest) transfers.largest_segment = largest->value;
  section.Read("drift", transfers.drift, Range{.high = 10, .above_low = true});
  section.OnlyWith("drift",
                   FollowsMeasurements(transfers.strategy) || transfers.drift == TransferOptions{}.drift,
                   "strategy = \"ibatch\" or \"optimal\"");
  return section.Finish();
}

}  // namespace tributary
