#include "tributary/telemetry/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>

namespace tributary::inline telemetry {

static_assert(std::endian::native == std::endian::little, "digests of floats are over little-endian bytes");

struct Digest::State {
  XXH3_state_t hash;
};

Digest::Digest() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->hash);
  XXH3_128bits_reset(&state_->hash);
}

Digest::~Digest() = default;

void Digest::Add(ByteSpan bytes) {
  // An empty span may have a null address, which the library treats as an error.
  if (!bytes.empty()) XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

void Digest::Add(std::span<const float> values) { Add(std::as_bytes(values)); }

std::string Digest::Hex() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->hash));
  return fmt::format("{:02x}", fmt::join(canonical.digest, ""));
}

}  // namespace tributary::inline telemetry
