#include "tributary/policy/compression/codecs.h"

#include "tributary/base/check.h"

namespace tributary::inline policy {

#define CODEC(name) CodecKind name();
#include "tributary/policy/compression/codecs.inc"
#undef CODEC

const std::vector<CompressionKind>& Codecs() {
  static const std::vector<CompressionKind> kCodecs = {
#define CODEC(name) std::make_shared<const CodecKind>(name()),
#include "tributary/policy/compression/codecs.inc"
#undef CODEC
  };
  return kCodecs;
}

const CompressionKind& CodecNamed(std::string_view name) {
  const auto found =
      std::ranges::find(Codecs(), name, [](const CompressionKind& kind) { return kind->name; });
  TRIBUTARY_CHECK(found != Codecs().end());
  return *found;
}

}  // namespace tributary::inline policy
