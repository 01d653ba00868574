#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline cli {

// The flags by which the parties of a real fleet find and trust each other; the same for coordinator, device and fleet.
struct FleetOptions {
  std::filesystem::path keys = "keys";
  bool insecure = false;
  bool insecure_anywhere = false;
};

void AddFleetOptions(CLI::App& command, FleetOptions& options);

// The bundle to show: `keys` itself if it is one, else `party` in it ("coordinator", "devices/pi-3"). Nothing with
// --insecure, if that may be at this address.
StatusOr<std::optional<Credentials>> LoadParty(const FleetOptions& options, const std::string& party,
                                               const std::string& address);
// --insecure is refused for an address that is not of this machine unless --insecure-anywhere is given too.
Status CheckInsecure(const FleetOptions& options, const std::string& address);
// The time given with `option`, which the error names.
StatusOr<Duration> ReadTime(const std::string& option, const std::string& text);
// The revocation list that lies with the keys. NotFound if there is none: a lost list must not let revoked devices in.
StatusOr<std::filesystem::path> RevokedList(const FleetOptions& options);

}  // namespace tributary::inline cli
