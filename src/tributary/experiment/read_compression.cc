#include "tributary/experiment/sections.h"

namespace tributary {

Status ReadCompression(Section section, CompressionOptions& compression) {
  const auto names = [](const auto& all) {
    std::vector<std::string> list;
    for (const auto one : all) list.emplace_back(NameOf(one));
    return list;
  };
  std::string kind(NameOf(compression.kind)), scope(NameOf(compression.scope));
  section.ReadName("kind", "compression", names(kCompressionKinds), kind);
  if (const auto parsed = ParseCompressionKind(kind); parsed.ok()) compression.kind = *parsed;
  section.Read("ratio", compression.ratio, kPositiveShare);
  section.Read("delta", compression.delta, Range{.high = 1});
  section.Read("ewma", compression.ewma, kPositiveShare);
  section.ReadName("scope", "scope", names(kSelectionScopes), scope);
  if (const auto parsed = ParseSelectionScope(scope); parsed.ok()) compression.scope = *parsed;
  section.Read("error-feedback", compression.error_feedback);
  const bool adaptive = compression.kind == CompressionKind::kAdaptiveTopK;
  const bool top_k = adaptive || compression.kind == CompressionKind::kTopK;
  for (const auto key : {"ratio", "scope"})
    section.OnlyWith(key, top_k, "kind = \"top-k\" or \"adaptive-top-k\"");
  for (const auto key : {"delta", "ewma"}) section.OnlyWith(key, adaptive, "kind = \"adaptive-top-k\"");
  section.OnlyWith("error-feedback", compression.kind != CompressionKind::kDense,
                   "a kind other than \"dense\"");
  if (const Status status = Validate(compression); !status.ok())
    section.Fail("kind", ": " + status.message());
  return section.Finish();
}

}  // namespace tributary
