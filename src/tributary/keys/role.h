#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// What a party may do in a fleet. The authority writes the role into the certificate, as the organisational unit of
// the subject; a certificate without one has the role of its name.
enum class Role { kDevice, kObserver, kOperator, kCoordinator };
inline constexpr Role kRoles[] = {Role::kDevice, Role::kObserver, Role::kOperator, Role::kCoordinator};

std::string_view NameOf(Role role);
std::optional<Role> RoleNamed(std::string_view text);
// The role of a reserved name; all other names are devices'.
Role RoleOfName(std::string_view name);

enum class Right {
  kLead,      // runs the fleet: devices connect to it and work for it
  kTakePart,  // joins a run as a device, and exchanges models with other devices
  kWatch,     // sees the fleet, its devices and the figures of the run
  kOperate    // changes a run: removes devices, sets the quorum
};
inline constexpr Right kRights[] = {Right::kLead, Right::kTakePart, Right::kWatch, Right::kOperate};

// The table of rights; every check of a role is this function.
bool May(Role role, Right right);

// A party of a fleet, as its certificate says.
struct Party {
  std::string name;
  Role role = Role::kDevice;

  friend bool operator==(const Party&, const Party&) = default;
};

// InvalidArgument without the right: "'pi-3' is a device and may not change the run; operators may".
Status CheckRight(const Party& party, Right right);

// Whether a party may be called `name`: the rules of CheckDeviceName, and reserved names for their own role only.
Status CheckPartyName(std::string_view name, Role role);

}  // namespace tributary::inline keys
