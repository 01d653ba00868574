#include "tributary/cli/fleet_options.h"

#include "tributary/base/loopback.h"
#include "tributary/cli/shared_options.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline cli {
namespace {

// HOST in HOST:PORT or [HOST]:PORT; "" in :PORT.
std::string HostOf(const std::string& address) {
  const auto colon = address.rfind(':');
  std::string host = address.substr(0, colon == std::string::npos ? address.size() : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

bool IsBundle(const std::filesystem::path& folder) { return std::filesystem::exists(folder / "cert.pem"); }

}  // namespace

void AddFleetOptions(CLI::App& command, FleetOptions& options) {
  AddDefaulted(command, "--keys DIR", options.keys,
               "Folder with the authority's keys, or with one party's keys")
      ->envname("TRIBUTARY_KEYS");
  command.add_flag("--insecure", options.insecure,
                   "Without TLS: anyone who can connect takes part. Loopback only");
  command.add_flag("--insecure-anywhere", options.insecure_anywhere, "With --insecure: also beyond loopback");
}

Status CheckInsecure(const FleetOptions& options, const std::string& address) {
  if (!options.insecure || options.insecure_anywhere || IsLoopback(HostOf(address))) return OkStatus();
  return InvalidArgument(
      "--insecure would send the model and take updates in plain text over " + address +
      "; use keys ('tributary keys init'), or add --insecure-anywhere if that network is trusted");
}

StatusOr<std::optional<Credentials>> LoadParty(const FleetOptions& options, const std::string& party,
                                               const std::string& address) {
  TRIBUTARY_RETURN_IF_ERROR(CheckInsecure(options, address));
  if (options.insecure) return std::optional<Credentials>();
  if (options.insecure_anywhere) return InvalidArgument("--insecure-anywhere goes with --insecure");
  const std::filesystem::path bundle = IsBundle(options.keys) ? options.keys : options.keys / party;
  if (!IsBundle(bundle)) {
    return NotFound("there are no keys in " + options.keys.string() + " or " +
                    (options.keys / party).string() +
                    "; make them with 'tributary keys init' and 'tributary keys device NAME', name their "
                    "folder with --keys, or use --insecure on this machine");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Credentials credentials, LoadCredentials(bundle));
  return std::optional(std::move(credentials));
}

StatusOr<Duration> ReadTime(const std::string& option, const std::string& text) {
  auto time = ParseDuration(text);
  if (!time.ok()) return std::move(time).status().WithContext(option);
  return time;
}

StatusOr<std::filesystem::path> RevokedList(const FleetOptions& options) {
  std::filesystem::path list = options.keys / "revoked.pem";
  if (std::filesystem::exists(list)) return list;
  return NotFound("there is no revocation list " + list.string() +
                  ", so revoked devices cannot be refused; copy revoked.pem there from the authority's "
                  "folder, or name that folder with --keys");
}

}  // namespace tributary::inline cli
