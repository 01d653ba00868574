#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// Every party of a fleet has a name, and its certificate is made out to the host "NAME.tributary": a name in a domain
// of our own, whatever addresses the machines have. A peer is known by its certificate and by nothing else.

// The parties that are not devices. No device can bear their names.
inline constexpr std::string_view kCoordinatorName = "coordinator";
inline constexpr std::string_view kOperatorName = "operator";

// "pi-3" as "pi-3.tributary".
std::string CertificateHost(std::string_view name);

// The name in a host of that form, coordinator and operator included; nothing for any other text, of whatever bytes.
std::optional<std::string> NameFromHost(std::string_view host);

// A device's name is 1 to 63 of a–z, 0–9 and '-', without '-' at either end: what a host name can hold and what is
// safe as the name of a folder. The reserved names are refused.
Status CheckDeviceName(std::string_view name);

}  // namespace tributary::inline keys
