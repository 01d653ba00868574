#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// Returns the passphrase of an authority's key. Called only if the key is, or will be, encrypted.
using Passphrase = std::function<StatusOr<std::string>()>;

inline constexpr std::size_t kShortestPassphrase = 12;

// Asks at the terminal without echo; twice for a new passphrase.
StatusOr<std::string> AskPassphrase(const std::string& prompt, bool is_new);

// Asks once, and gives the same answer from then on.
Passphrase Remembered(Passphrase ask);

}  // namespace tributary::inline keys
