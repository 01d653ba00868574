#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace tributary {

// A moment as "2026-05-17T08:30:00Z", and back; nothing for text that is not exactly that.
std::string FormatUtc(std::time_t time);
std::optional<std::time_t> ParseUtc(std::string_view text);

}  // namespace tributary
