#include "tributary/coordinator/run_summary.h"

#include <nlohmann/json.hpp>

#include "tributary/experiment/vocabulary.h"

namespace tributary {
namespace {

const char* ReasonName(RunEnd reason) {
  switch (reason) {
    case RunEnd::kRounds:
      return "rounds";
    case RunEnd::kTime:
      return "time";
    case RunEnd::kTarget:
      return "target";
    case RunEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

std::string FormatSummary(const Experiment& experiment, const FinishedRun& result) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array();
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceTotals& device = result.devices[i];
    devices.push_back({{"device", i},
                       {"group", result.profiles[i].group},
                       {"samples", result.profiles[i].samples},
                       {"applied", device.applied},
                       {"missed", device.missed},
                       {"compute_seconds", ToSeconds(device.compute)},
                       {"transfer_seconds", ToSeconds(device.transfer)},
                       {"hidden_seconds", ToSeconds(device.hidden)},
                       {"waiting_seconds", ToSeconds(device.waiting)},
                       {"bytes_down", device.down.value},
                       {"bytes_up", device.up.value}});
    if (device.chose > 0) devices.back()["kept"] = device.kept / static_cast<double>(device.chose);
  }
  Json summary = {{"experiment", experiment.goal.name},
                  {"seed", experiment.goal.seed},
                  {"method", NameOf(kMethods, experiment.train.method)},
                  {"model", experiment.model.name},
                  {"compute_as", nullptr},
                  {"data", experiment.data.set},
                  {"rounds", result.run.rounds},
                  {"ended_by", ReasonName(result.run.reason)},
                  {"accuracy", nullptr},
                  {result.simulated ? "virtual_seconds" : "seconds", ToSeconds(result.time)},
                  {"bytes_down", result.down.value},
                  {"bytes_up", result.up.value},
                  {"digest", result.digest},
                  {"devices", devices}};
  if (experiment.model.compute_as) summary["compute_as"] = *experiment.model.compute_as;
  if (result.run.accuracy) summary["accuracy"] = *result.run.accuracy;
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tributary
