#include "tributary/keys/utc_time.h"

#include <array>

namespace tributary {

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
  // Spaces, short fields and the 31st of February are read too, but do not come out as they went in.
  if (FormatUtc(time) != text) return std::nullopt;
  return time;
}

}  // namespace tributary
