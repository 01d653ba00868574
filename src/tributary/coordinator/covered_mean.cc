#include "tributary/coordinator/covered_mean.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/model/thin_graph.h"
#include "tributary/model/thin_map.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary {

CoveredMean::CoveredMean(const Experiment& experiment, const Model& model, DropoutMenu menu)
    : model_(model),
      seed_(experiment.goal.seed),
      method_(experiment.dropout.method),
      menu_(std::move(menu)),
      trained_(model.parameters.size) {}

StatusOr<std::unique_ptr<CoveredMean>> CoveredMean::Make(const Experiment& experiment, const Model& model) {
  TRIBUTARY_ASSIGN_OR_RETURN(DropoutMenu menu, DropoutMenu::Make(model, experiment.dropout));
  return std::unique_ptr<CoveredMean>(new CoveredMean(experiment, model, std::move(menu)));
}

void CoveredMean::Begin(RoundId round, const RoundReport& report) {
  std::ranges::fill(trained_.span(), 0.0F);
  all_ = 0;
  for (const DeviceReport& device : report.devices) {
    if (device.outcome != Outcome::kApplied) continue;
    TRIBUTARY_CHECK(device.kept.has_value() && device.kept->entry < menu_.entries().size());
    const KeptAtoms kept = AtomsOf(menu_, method_, {seed_, device.device, round}, 0, device.kept->entry);
    const Model thin(ThinGraph(model_, kept));
    ThinMap map(model_, thin);
    map.Keep(kept);
    const auto weight = static_cast<float>(device.metrics.samples);
    std::vector<float> sums(thin.parameters.size);
    map.GatherAll(ThinMap::Part::kParameters, trained_.span(), sums);
    for (float& sum : sums) sum += weight;
    map.ScatterAll(ThinMap::Part::kParameters, sums, trained_.span());
    all_ += weight;
  }
}

void CoveredMean::Apply(std::size_t offset, std::span<float> mean) const {
  const std::span<const float> trained = trained_.span().subspan(offset, mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (trained[i] > 0) mean[i] *= all_ / trained[i];
  }
}

}  // namespace tributary
