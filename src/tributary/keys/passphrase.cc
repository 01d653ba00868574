#include "tributary/keys/passphrase.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <optional>

namespace tributary::inline keys {

StatusOr<std::string> AskPassphrase(const std::string& prompt, bool is_new) {
  std::array<char, 256> typed{};
  const int failed =
      EVP_read_pw_string_min(typed.data(), is_new ? static_cast<int>(kShortestPassphrase) : 0,
                             static_cast<int>(typed.size()) - 1, prompt.c_str(), is_new ? 1 : 0);
  std::string passphrase(typed.data());
  OPENSSL_cleanse(typed.data(), typed.size());
  ERR_clear_error();
  if (failed == 0) return passphrase;
  return InvalidArgument(
      "no passphrase was typed; type it at the terminal, or name a file with --passphrase-file");
}

Passphrase Remembered(Passphrase ask) {
  if (!ask) return ask;
  return [ask = std::move(ask),
          said = std::make_shared<std::optional<std::string>>()]() -> StatusOr<std::string> {
    if (!*said) {
      TRIBUTARY_ASSIGN_OR_RETURN(*said, ask());
    }
    return **said;
  };
}

}  // namespace tributary::inline keys
