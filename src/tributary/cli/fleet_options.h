#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline cli {

// Flags for connections and keys, shared by coordinator, device and fleet.
struct FleetOptions {
  std::filesystem::path keys = "keys";
  bool insecure = false;
  bool insecure_anywhere = false;
};

void AddFleetOptions(CLI::App& command, FleetOptions& options);

// Credentials: the bundle `keys` itself, or `party` in it ("coordinator", "devices/pi-3"). Empty with
// --insecure, if that is allowed for this address.
StatusOr<std::optional<Credentials>> LoadParty(const FleetOptions& options, const std::string& party,
                                               const std::string& address);
// Refuses --insecure for addresses beyond loopback unless --insecure-anywhere is given.
Status CheckInsecure(const FleetOptions& options, const std::string& address);
// A time; errors name `option`.
StatusOr<Duration> ReadTime(const std::string& option, const std::string& text);
// The revocation list in the keys folder. NotFound if missing: a lost list must not admit revoked devices.
StatusOr<std::filesystem::path> RevokedList(const FleetOptions& options);

}  // namespace tributary::inline cli
