#include "tributary/fleet/grpc/peer_address.h"

#include <algorithm>
#include <charconv>

#include "tributary/fleet/grpc/wire_parts.h"

namespace tributary::inline rpc {
namespace {

constexpr std::size_t kLongestHost = 253;
constexpr int kLastPort = 65535;

bool IsHost(std::string_view host, bool bracketed) {
  const auto allowed = [bracketed](char c) {
    const bool digit = c >= '0' && c <= '9';
    if (bracketed) return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
    return digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
  };
  return !host.empty() && host.size() <= kLongestHost && host.front() != '-' &&
         std::ranges::all_of(host, allowed);
}

}  // namespace

StatusOr<PeerAddress> ParsePeerAddress(std::string_view text) {
  const Status wrong = InvalidArgument("'" + Clean(text, 80) +
                                       "' is no HOST:PORT; allowed: like pi-3.local:7071,"
                                       " 192.168.1.3:7071 or [fd00::3]:7071");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  PeerAddress address{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool number = error == std::errc() && end == port.data() + port.size() && address.port >= 0;
  if (!number || address.port > kLastPort || !IsHost(host, bracketed)) return wrong;
  return address;
}

std::string Format(const PeerAddress& address) {
  const bool bracketed = address.host.find(':') != std::string::npos;
  return (bracketed ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace tributary::inline rpc
