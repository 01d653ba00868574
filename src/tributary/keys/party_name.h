#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// Every party of a fleet has a name, and its certificate is issued to the host "NAME.tributary", independent
// of the machines' addresses. A peer is identified by its certificate alone.

// Parties that are not devices. Devices cannot have these names.
inline constexpr std::string_view kCoordinatorName = "coordinator";
inline constexpr std::string_view kOperatorName = "operator";

// "pi-3.tributary" for "pi-3".
std::string CertificateHost(std::string_view name);

// The name in a host of that form, including coordinator and operator; nullopt for any other bytes.
std::optional<std::string> NameFromHost(std::string_view host);

// A device's name is 1 to 63 of a–z, 0–9 and '-', without '-' at either end: valid as a host name and safe as
// a folder name. The reserved names are refused.
Status CheckDeviceName(std::string_view name);

}  // namespace tributary::inline keys
