#include "tributary/keys/passphrase.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>

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

}  // namespace tributary::inline keys
