#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace tributary::inline base {

// Reads all of `text` as a number, in every locale alike. False if it is not one.
template <typename Number>
bool ParseExactly(std::string_view text, Number& out) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && stop == end;
}

}  // namespace tributary::inline base
