#pragma once

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// A moment as "2026-05-17T08:30:00Z", and back; nothing for text that is not exactly that.
std::string FormatUtc(std::time_t time);
std::optional<std::time_t> ParseUtc(std::string_view text);

// A certificate that an authority has made. The serial number is in hexadecimal, as OpenSSL prints it.
struct IssuedCertificate {
  std::string name;
  std::string serial;
  std::time_t not_after = 0;
  bool revoked = false;

  bool ValidAt(std::time_t now) const { return !revoked && now <= not_after; }
  friend bool operator==(const IssuedCertificate&, const IssuedCertificate&) = default;
};

// The text of issued.txt, oldest first: a line "serial name not-after" for each. Whether one has been revoked stands
// in the revocation list alone. A line of another form is kCorrupt, and the message gives its number.
std::string FormatIssued(std::span<const IssuedCertificate> issued);
StatusOr<std::vector<IssuedCertificate>> ParseIssued(std::string_view text);

}  // namespace tributary::inline keys
