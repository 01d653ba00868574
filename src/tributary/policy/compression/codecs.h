#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"
#include "tributary/policy/compression/codec.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline policy {

struct CodecKind;

// A codec of Codecs(), or an extension of the program.
using CompressionKind = std::shared_ptr<const CodecKind>;
// The built-in codec of this name, which must exist.
const CompressionKind& CodecNamed(std::string_view name);

enum class SelectionScope {
  kUnit,    // the largest elements of each transfer unit, which can be sent as soon as it is ready
  kGlobal,  // the largest elements of the whole gradient, which is sent in one piece
};
inline constexpr SelectionScope kSelectionScopes[] = {SelectionScope::kUnit, SelectionScope::kGlobal};
constexpr std::string_view NameOf(SelectionScope scope) {
  return scope == SelectionScope::kUnit ? "unit" : "global";
}

// How updates are compressed.
struct CompressionOptions {
  CompressionKind kind = CodecNamed("dense");
  double ratio = 0.1;  // top-k: fraction of elements kept. Smaller: fewer bytes, staler residual
  double delta = 0.3;  // adaptive: maximum lost fraction of the squared norm. Larger: more sparse steps
  double ewma = 0.1;   // adaptive: weight of the newest measurement. Larger follows faster, noise too
  SelectionScope scope = SelectionScope::kUnit;  // top-k
  bool error_feedback = true;  // adds what was not sent to the next gradient; costs a float per parameter
  friend bool operator==(const CompressionOptions&, const CompressionOptions&) = default;
};

// Returns an error if a value is out of range.
Status Validate(const CompressionOptions& options);

// Whether all units must be pushed together, because one selection is made among them.
bool NeedsWholePush(const CompressionOptions& options);
// Whether a residual is kept from step to step.
bool NeedsResidual(const CompressionOptions& options);
// The number of elements kept of `count`: ratio · count, rounded up.
std::size_t KeptOf(const CompressionOptions& options, std::size_t count);

// A codec and its name in experiment files: `[compression] kind = "NAME"`.
struct CodecKind {
  std::string name;
  std::string about;
  // Makes the codec for this number of transfer units.
  std::function<std::unique_ptr<Codec>(const CompressionOptions& options, std::size_t units,
                                       const ParallelFor& parallel)>
      make;
  // The keys of [compression] that are valid with it.
  std::vector<std::string> keys = {"error-feedback"};
  // Its own unit form, if it does not write the forms of encoding.h. Must live as long as the program.
  const UnitForm* form = nullptr;

  bool Uses(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }
};

// The built-in codecs, the default first. A new codec is a file with a function, and a line in codecs.inc.
const std::vector<CompressionKind>& Codecs();

inline std::unique_ptr<Codec> MakeCodec(const CompressionOptions& options, std::size_t units = 1,
                                        const ParallelFor& parallel = RunInOrder) {
  return options.kind->make(options, units, parallel);
}

}  // namespace tributary::inline policy
