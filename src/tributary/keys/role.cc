#include "tributary/keys/role.h"

#include <algorithm>

#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

constexpr std::string_view kRoleNames[] = {"device", "observer", "operator", "coordinator"};

std::string_view Doing(Right right) {
  constexpr std::string_view kDoing[] = {"lead a fleet", "take part", "look at the fleet", "change the run"};
  return kDoing[static_cast<std::size_t>(right)];
}

std::string WithArticle(Role role) {
  const std::string_view name = NameOf(role);
  return (name.front() == 'o' ? "an " : "a ") + std::string(name);
}

}  // namespace

std::string_view NameOf(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

std::optional<Role> RoleNamed(std::string_view text) {
  const auto* const found = std::ranges::find(kRoleNames, text);
  if (found == std::end(kRoleNames)) return std::nullopt;
  return static_cast<Role>(found - std::begin(kRoleNames));
}

Role RoleOfName(std::string_view name) {
  if (name == kCoordinatorName) return Role::kCoordinator;
  return name == kOperatorName ? Role::kOperator : Role::kDevice;
}

bool May(Role role, Right right) {
  switch (right) {
    case Right::kLead:
      return role == Role::kCoordinator;
    case Right::kTakePart:
      return role == Role::kDevice;
    case Right::kWatch:
      return role == Role::kObserver || role == Role::kOperator || role == Role::kCoordinator;
    case Right::kOperate:
      return role == Role::kOperator;
  }
  return false;
}

Status CheckRight(const Party& party, Right right) {
  if (May(party.role, right)) return OkStatus();
  std::string others;
  for (const Role role : kRoles) {
    if (May(role, right)) others += (others.empty() ? "" : ", ") + std::string(NameOf(role)) + "s";
  }
  return InvalidArgument("'" + party.name + "' is " + WithArticle(party.role) + " and may not " +
                         std::string(Doing(right)) + "; " + others + " may");
}

Status CheckPartyName(std::string_view name, Role role) {
  if (RoleOfName(name) == Role::kDevice) return CheckDeviceName(name);
  if (RoleOfName(name) == role) return OkStatus();
  return InvalidArgument(WithArticle(role) + " cannot be called '" + std::string(name) +
                         "': the name is reserved");
}

}  // namespace tributary::inline keys
