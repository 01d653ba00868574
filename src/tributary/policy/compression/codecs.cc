#include "tributary/policy/compression/codecs.h"

#include <fmt/format.h>

#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/number_text.h"

namespace tributary::inline policy {
namespace {

Status Outside(std::string_view key, std::string_view allowed, double found) {
  return InvalidArgument(
      fmt::format("compression: {} must be {}; found {}", key, allowed, NumberText(found)));
}

}  // namespace

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

Status Validate(const CompressionOptions& options) {
  // NaN is refused.
  if (!(options.ratio > 0 && options.ratio <= 1)) {
    return Outside("ratio", "above 0 and at most 1 (1 keeps every element)", options.ratio);
  }
  if (!(options.delta >= 0 && options.delta <= 1)) {
    return Outside("delta", "from 0 (almost never sparse) to 1 (always sparse)", options.delta);
  }
  if (!(options.ewma > 0 && options.ewma <= 1)) {
    return Outside("ewma", "above 0 and at most 1 (1 uses only the last step)", options.ewma);
  }
  return OkStatus();
}

bool NeedsWholePush(const CompressionOptions& options) {
  return options.kind->Uses("scope") && options.scope == SelectionScope::kGlobal;
}

bool NeedsResidual(const CompressionOptions& options) {
  return options.error_feedback && options.kind->Uses("error-feedback");
}

std::size_t KeptOf(const CompressionOptions& options, std::size_t count) {
  // 10 % of 30 is 3, although 0.1 · 30 rounds to a larger number.
  const double kept = std::ceil(options.ratio * static_cast<double>(count) * (1 - 1e-12));
  return std::min(count, static_cast<std::size_t>(kept));
}

}  // namespace tributary::inline policy
