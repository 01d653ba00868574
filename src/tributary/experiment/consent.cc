#include "tributary/experiment/consent.h"

#include <algorithm>

#include "tributary/base/names.h"

namespace tributary::inline experiment {

std::vector<std::string> DisclosuresOf(const Experiment& experiment, const std::optional<SplitWire>& cut) {
  std::vector<std::string> needs;
  if (experiment.injection.on() || (cut && cut->raw_samples)) needs.emplace_back(kSamplesLeave);
  if (cut) {
    needs.emplace_back(kActivationsLeave);
    if (cut->labels_travel()) needs.emplace_back(kLabelsLeave);
    if (UsesLabels(experiment.sampling)) needs.emplace_back(kLabelCountsLeave);
  }
  return needs;
}

StatusOr<Consent> Consent::Parse(std::vector<std::string> names) {
  static const std::vector<std::string> known = {std::string(kActivationsLeave), std::string(kLabelsLeave),
                                                 std::string(kLabelCountsLeave), std::string(kSamplesLeave)};
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) return UnknownName("thing to allow", name, known);
  }
  Consent consent;
  consent.allowed_ = std::move(names);
  return consent;
}

bool Consent::Allows(std::string_view what) const {
  return std::ranges::find(allowed_, what) != allowed_.end();
}

Status Consent::Check(std::string_view what) const {
  if (Allows(what)) return OkStatus();
  const std::string name(what);
  return InvalidArgument("the experiment takes " + name +
                         " from devices, which this device does not allow; start it with --allow " + name +
                         " if its owner agrees");
}

}  // namespace tributary::inline experiment
