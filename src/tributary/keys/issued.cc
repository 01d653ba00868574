#include "tributary/keys/issued.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

constexpr std::size_t kLongestSerial = 40;  // 20 bytes, the maximum of a certificate

bool IsSerial(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return !text.empty() && text.size() <= kLongestSerial && std::all_of(text.begin(), text.end(), digit);
}

std::optional<IssuedCertificate> ParseLine(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == line.npos ? line.npos : line.find(' ', first + 1);
  if (second == line.npos) return std::nullopt;
  const std::string_view serial = line.substr(0, first);
  const std::string_view name = line.substr(first + 1, second - first - 1);
  const std::size_t third = std::min(line.find(' ', second + 1), line.size());
  const std::optional<std::time_t> not_after = ParseUtc(line.substr(second + 1, third - second - 1));
  const std::optional<Role> role =
      third == line.size() ? RoleOfName(name) : RoleNamed(line.substr(third + 1));
  if (!IsSerial(serial) || !NameFromHost(CertificateHost(name)) || !not_after || !role) return std::nullopt;
  return IssuedCertificate{
      .name = std::string(name), .serial = std::string(serial), .not_after = *not_after, .role = *role};
}

}  // namespace

std::string FormatUtc(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::optional<std::time_t> ParseUtc(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* end = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr) return std::nullopt;
  const std::time_t time = ::timegm(&parts);
  // strptime also accepts spaces, short fields and 31 February; those do not format back to the same text.
  if (FormatUtc(time) != text) return std::nullopt;
  return time;
}

std::string FormatIssued(std::span<const IssuedCertificate> issued) {
  std::string text;
  for (const auto& one : issued) {
    text += one.serial + " " + one.name + " " + FormatUtc(one.not_after);
    if (one.role != RoleOfName(one.name)) text += " " + std::string(NameOf(one.role));
    text += "\n";
  }
  return text;
}

StatusOr<std::vector<IssuedCertificate>> ParseIssued(std::string_view text) {
  std::vector<IssuedCertificate> issued;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::optional<IssuedCertificate> one = ParseLine(text.substr(0, end));
    if (!one) {
      return Corrupt(fmt::format(
          "line {} does not read 'serial name not-after [role]', such as '1F3A pi-3 2028-01-31T12:00:00Z'",
          issued.size() + 1));
    }
    issued.push_back(*std::move(one));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return issued;
}

}  // namespace tributary::inline keys
