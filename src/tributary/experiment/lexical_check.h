#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary {

// Refuses, with the line, what the TOML library (toml++ 3.3) does not survive or takes without a limit:
//   - characters beyond ASCII outside of texts and comments: it runs into undefined behaviour on many of them, and no
//     valid file has any there;
//   - control characters outside of texts, texts that do not end, and quotes or brackets directly behind a value, by
//     which such characters get past the above;
//   - texts over several lines, where the same may happen, and which no experiment needs;
//   - dotted keys of more than kMostKeyParts parts: each is a table within a table, made and unmade by recursion.
// What is wrong in other ways is left for the library to say.
Status CheckLexically(std::string_view text, const std::string& name);

inline constexpr int kMostKeyParts = 16;

}  // namespace tributary
