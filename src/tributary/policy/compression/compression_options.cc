#include "tributary/policy/compression/compression_options.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "tributary/base/names.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline policy {
namespace {

Status Outside(std::string_view key, std::string_view allowed, double found) {
  std::ostringstream text;
  text << "compression: " << key << " must be " << allowed << "; found " << found;
  return InvalidArgument(text.str());
}

}  // namespace

std::string_view NameOf(SelectionScope scope) {
  switch (scope) {
    case SelectionScope::kUnit:
      return "unit";
    case SelectionScope::kGlobal:
      return "global";
  }
  return "";
}

StatusOr<SelectionScope> ParseSelectionScope(std::string_view name) {
  return ParseName("scope of selection", kSelectionScopes, name);
}

Status Validate(const CompressionOptions& options) {
  // Written so that NaN fails.
  if (!(options.ratio > 0 && options.ratio <= 1)) {
    return Outside("ratio", "above 0 and at most 1 (1 keeps every element)", options.ratio);
  }
  if (!(options.delta >= 0 && options.delta <= 1)) {
    return Outside("delta", "between 0 (hardly ever sparse) and 1 (always sparse)", options.delta);
  }
  if (!(options.ewma > 0 && options.ewma <= 1)) {
    return Outside("ewma", "above 0 and at most 1 (1 looks at the last step alone)", options.ewma);
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
  // A tenth of 30 is 3, although 0.1 · 30 comes out above it.
  const double kept = std::ceil(options.ratio * static_cast<double>(count) * (1 - 1e-12));
  return std::min(count, static_cast<std::size_t>(kept));
}

}  // namespace tributary::inline policy
