#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// Says the passphrase of an authority's key. Called only if the key is encrypted.
using Passphrase = std::function<StatusOr<std::string>()>;

inline constexpr std::size_t kShortestPassphrase = 12;

// Asks at the terminal, which does not show what is typed; for a new passphrase twice.
StatusOr<std::string> AskPassphrase(const std::string& prompt, bool is_new);

}  // namespace tributary::inline keys
