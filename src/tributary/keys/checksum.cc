#include "tributary/keys/checksum.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <span>

#include "tributary/base/file.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {

StatusOr<Checksum> ChecksumOfFile(const std::filesystem::path& path, Checksum::Kind kind) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return SystemError("cannot read", path, errno);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const EVP_MD* const method = kind == Checksum::Kind::kMd5 ? EVP_md5() : EVP_sha256();
  if (!context || EVP_DigestInit_ex(context.get(), method, nullptr) != 1)
    return OpenSslError("cannot start a checksum");
  std::array<char, 65536> piece;
  while (file) {
    file.read(piece.data(), piece.size());
    if (EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(file.gcount())) != 1)
      return OpenSslError("cannot continue a checksum");
  }
  if (file.bad()) return SystemError("cannot read", path, errno);
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(context.get(), sum.data(), &size) != 1)
    return OpenSslError("cannot finish a checksum");
  return Checksum{kind, fmt::format("{:02x}", fmt::join(std::span(sum).first(size), ""))};
}

StatusOr<std::string> Sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), sum.data(), &size, EVP_sha256(), nullptr) != 1)
    return OpenSslError("cannot make a check sum");
  return fmt::format("{:02x}", fmt::join(std::span(sum).first(size), ""));
}

}  // namespace tributary::inline keys
