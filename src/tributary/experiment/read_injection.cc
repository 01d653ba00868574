#include "tributary/experiment/sections.h"

namespace tributary {

Status ReadInjection(Section section, const Experiment& rest, InjectionOptions& injection) {
  section.Read("devices", injection.devices, Range{.high = 1});
  section.Read("share", injection.share, kPositiveShare);
  section.OnlyWith("devices", !injection.on() || rest.train.method == Method::kSyncSgd,
                   "method = \"sync-sgd\"");
  section.OnlyWith("devices", !injection.on() || !rest.stream.own, "samples of the data set: no stream.kind");
  section.OnlyWith("share", injection.on(), "devices above 0");
  if (injection.on()) section.Require("share", "; it says how much of its batch a device shares");
  return section.Finish();
}

}  // namespace tributary
