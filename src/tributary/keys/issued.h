#pragma once

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/keys/role.h"

namespace tributary::inline keys {

// A time as "2026-05-17T08:30:00Z", and back; nullopt for any other text.
std::string FormatUtc(std::time_t time);
std::optional<std::time_t> ParseUtc(std::string_view text);

// A certificate issued by an authority. The serial number is hexadecimal, as OpenSSL prints it.
struct IssuedCertificate {
  std::string name;
  std::string serial;
  std::time_t not_after = 0;
  bool revoked = false;
  Role role = Role::kDevice;
  bool previous = false;  // issued by the previous authority, which is being replaced

  bool ValidAt(std::time_t now) const { return !revoked && now <= not_after; }
  friend bool operator==(const IssuedCertificate&, const IssuedCertificate&) = default;
};

// The text of issued.txt, oldest first, with lines of the form "serial name not-after", and the role unless it is that
// of the name. Revocations are only in the revocation list. A malformed line is kCorrupt, and the message gives its number.
std::string FormatIssued(std::span<const IssuedCertificate> issued);
StatusOr<std::vector<IssuedCertificate>> ParseIssued(std::string_view text);

}  // namespace tributary::inline keys
