#include "tributary/coordinator/finished_run.h"

#include <nlohmann/json.hpp>

#include "tributary/experiment/vocabulary.h"

namespace tributary::inline coordinator {

FinishedRun MakeFinishedRun(std::span<const DeviceProfile> profiles, const RunTotals& totals) {
  FinishedRun result;
  result.profiles.assign(profiles.begin(), profiles.end());
  result.devices = totals.devices;
  result.devices.resize(profiles.size());  // Those that were never asked have nothing.
  for (const DeviceTotals& device : result.devices) {
    result.down += device.down;
    result.up += device.up;
  }
  return result;
}

std::string FormatSummary(const Experiment& experiment, const FinishedRun& result) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array();
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceTotals& device = result.devices[i];
    Json& row = devices.emplace_back(Json{{"device", i},
                                          {"group", result.profiles[i].group},
                                          {"samples", result.profiles[i].samples},
                                          {"applied", device.applied},
                                          {"missed", device.missed}});
    PutDeviceTotals(device, [&](const std::string& key, auto value) { row[key] = value; });
    if (device.chose > 0) row["kept"] = device.kept_sum / static_cast<double>(device.chose);
  }
  Json summary = {{"experiment", experiment.goal.name},
                  {"seed", experiment.goal.seed},
                  {"method", NameOf(kMethods, experiment.train.method)},
                  {"model", experiment.model.name},
                  {"compute_as", nullptr},
                  {"data", experiment.data.set},
                  {"rounds", result.run.rounds},
                  {"ended_by", NameOf(result.run.reason)},
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

}  // namespace tributary::inline coordinator
