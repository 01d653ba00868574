#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/fleet_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/fleet/grpc/watch.h"

namespace tributary::inline cli {
namespace fleet_command {

struct Arguments {
  std::string host;
  FleetOptions fleet;
  bool json = false;
  std::string drop, ban, admit;
  std::size_t quorum = 0;
};

std::string Rate(double amount, const char* unit) { return amount > 0 ? FormatCount(amount) + unit : "?"; }

std::string SamplesOf(const WatchedDevice& device) {
  if (!device.streams) return std::to_string(device.profile.samples);
  return Rate(device.samples_per_second, "/s");
}

Status PrintAsJson(const WatchedFleet& fleet) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const WatchedDevice& device : fleet.devices) {
    devices.push_back({{"device", device.profile.id.value},
                       {"name", device.name},
                       {"state", device.state},
                       {"state_seconds", ToSeconds(device.state_time)},
                       {"address", device.address},
                       {"advertised", device.advertised},
                       {"build", device.build},
                       {"samples", device.profile.samples},
                       {"macs_per_second", device.profile.compute.value},
                       {"up_bits_per_second", device.profile.uplink.value},
                       {"down_bits_per_second", device.profile.downlink.value},
                       {"round_trip_seconds", ToSeconds(device.profile.round_trip)},
                       {"memory_bytes", device.profile.memory.value},
                       {"threads", device.threads},
                       {"applied", device.applied},
                       {"missed", device.missed},
                       {"pull_segments", device.pull_segments},
                       {"push_segments", device.push_segments},
                       {"planned_seconds", ToSeconds(device.planned)},
                       {"replanned", device.replanned},
                       {"streams", device.streams},
                       {"samples_per_second", device.samples_per_second},
                       {"buffered", device.buffered}});
  }
  return PrintJson({{"experiment", fleet.experiment},
                    {"round", fleet.round},
                    {"rounds", fleet.rounds},
                    {"devices", std::move(devices)}});
}

Status Run(const Arguments& arguments) {
  const std::string address =
      arguments.host.find(':') == std::string::npos ? arguments.host + ":7070" : arguments.host;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto credentials, LoadParty(arguments.fleet, "operator", address));
  using Kind = OperatorRequest::Kind;
  const auto operate = [&](Kind kind, const std::string& device, std::size_t quorum = 0) -> Status {
    if (device.empty() && quorum == 0) return OkStatus();
    return OperateFleet(address, credentials, {kind, device, quorum});
  };
  TRIBUTARY_RETURN_IF_ERROR(operate(Kind::kDrop, arguments.drop));
  TRIBUTARY_RETURN_IF_ERROR(operate(Kind::kBan, arguments.ban));
  TRIBUTARY_RETURN_IF_ERROR(operate(Kind::kAdmit, arguments.admit));
  TRIBUTARY_RETURN_IF_ERROR(operate(Kind::kQuorum, "", arguments.quorum));
  TRIBUTARY_ASSIGN_OR_RETURN(const WatchedFleet fleet, WatchFleet(address, credentials));
  if (arguments.json) return PrintAsJson(fleet);
  TextTable table({"device", "name", "state", "for", "samples", "compute", "up", "down", "round trip",
                   "memory", "threads", "applied", "missed", "segments", "planned"});
  for (const WatchedDevice& device : fleet.devices) {
    const DeviceProfile& profile = device.profile;
    table.AddRow({std::to_string(profile.id.value), device.name, device.state,
                  FormatDuration(device.state_time), SamplesOf(device), Rate(profile.compute.value, "MAC/s"),
                  Rate(profile.uplink.value, "bit/s"), Rate(profile.downlink.value, "bit/s"),
                  FormatDuration(profile.round_trip), FormatBytes(profile.memory),
                  std::to_string(device.threads), std::to_string(device.applied),
                  std::to_string(device.missed),
                  std::to_string(device.pull_segments) + "/" + std::to_string(device.push_segments),
                  device.pull_segments > 0 ? FormatDuration(device.planned) : "-"});
  }
  Say("{}, round {}{}\n{}", fleet.experiment, fleet.round,
      fleet.rounds > 0 ? fmt::format(" of {}", fleet.rounds) : "", table.Format());
  return OkStatus();
}

}  // namespace fleet_command

void AddFleetCommand(CLI::App& app, Action& action) {
  using namespace fleet_command;
  auto [command, a] =
      AddCommand(app, action, Run, "fleet", "Show and manage the devices of a running coordinator");
  AddOption(command, "host HOST[:PORT]", a.host, "The coordinator; port 7070 when not given")->required();
  AddFleetOptions(command, a.fleet);
  AddJsonFlag(command, a.json);
  AddOption(
      command, "--drop NAME", a.drop,
      "Remove this device from the run; it is waited for no longer. A device that still runs joins again");
  AddOption(command, "--ban NAME", a.ban, "Remove this device and refuse it until --admit");
  AddOption(command, "--admit NAME", a.admit, "Let a banned device, or a device in quarantine, join again");
  AddOption(command, "--quorum N", a.quorum,
            "The number of answers that each round needs, from now until the coordinator ends, instead of "
            "fleet.quorum")
      ->check(CLI::PositiveNumber);
  command.footer(
      "Shows rates as measured: on joining, and kept current while rounds run.\n"
      "--drop, --ban, --admit and --quorum need an operator's keys, and act before the devices are shown.\n"
      "Examples:\n"
      "  tributary fleet coordinator.local --keys alice               with an observer's keys\n"
      "  tributary fleet coordinator.local --keys operator --drop pi-3\n"
      "  tributary fleet 127.0.0.1 --insecure --json");
}

}  // namespace tributary::inline cli
