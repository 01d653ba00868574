#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/experiment/reader.h"

// The input is an experiment file; lines after a line %% are overrides. What is read must come back from its own text,
// and small fleets must be built or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  if (const std::size_t mark = text.find("\n%%\n"); mark != std::string_view::npos) {
    std::string_view rest = text.substr(mark + 4);
    text = text.substr(0, mark + 1);
    while (!rest.empty() && overrides.size() < 100) {
      const std::size_t end = rest.find('\n');
      overrides.emplace_back(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  const auto experiment = ReadExperimentText(text, {"fuzz", std::nullopt}, overrides);
  if (!experiment.ok()) {
    TRIBUTARY_CHECK(!experiment.status().message().empty());
    return 0;
  }
  const std::string as_run = FormatExperiment(*experiment);
  const auto back = ReadExperimentText(as_run, {"as-run", std::nullopt});
  TRIBUTARY_CHECK(back.ok());
  TRIBUTARY_CHECK(FormatExperiment(*back) == as_run);
  if (TotalDevices(experiment->fleet) > 100) return 0;
  const auto fleet = BuildFleet(*experiment);
  if (!fleet.ok()) return 0;
  for (const DeviceProfile& device : *fleet) {
    TRIBUTARY_CHECK(device.compute.value > 0 && device.uplink.value > 0 && device.downlink.value > 0);
    const auto done = device.availability.Finish(FromSeconds(3), FromSeconds(1e-6));
    TRIBUTARY_CHECK(!done || *done >= FromSeconds(3));
  }
  return 0;
}
