#include "tributary/keys/party_name.h"

#include <algorithm>

namespace tributary::inline keys {
namespace {

constexpr std::string_view kDomain = ".tributary";

bool IsHostLabel(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), allowed);
}

// Untrusted text for a message: truncated, and without bytes that control a terminal.
std::string Printable(std::string_view text) {
  std::string shown(text.substr(0, 80));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return shown;
}

}  // namespace

std::string CertificateHost(std::string_view name) { return std::string(name) + std::string(kDomain); }

std::optional<std::string> NameFromHost(std::string_view host) {
  if (!host.ends_with(kDomain)) return std::nullopt;
  const std::string_view name = host.substr(0, host.size() - kDomain.size());
  if (!IsHostLabel(name)) return std::nullopt;
  return std::string(name);
}

Status CheckDeviceName(std::string_view name) {
  if (name == kCoordinatorName || name == kOperatorName)
    return InvalidArgument("a device cannot be called '" + std::string(name) + "': the name is reserved");
  if (!IsHostLabel(name)) {
    return InvalidArgument("a device cannot be called '" + Printable(name) +
                           "'; allowed: 1 to 63 of a-z, 0-9 and '-', without '-' at either end");
  }
  return OkStatus();
}

}  // namespace tributary::inline keys
