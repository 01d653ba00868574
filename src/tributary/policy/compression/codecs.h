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

// One of Codecs(), or one that the program was given.
using CompressionKind = std::shared_ptr<const CodecKind>;
// The built-in codec of this name, which must be there.
const CompressionKind& CodecNamed(std::string_view name);

enum class SelectionScope {
  kUnit,    // the largest of each transfer unit, which can be sent as soon as it is ready
  kGlobal,  // the largest of the whole gradient: it is sent in one piece
};
inline constexpr SelectionScope kSelectionScopes[] = {SelectionScope::kUnit, SelectionScope::kGlobal};
constexpr std::string_view NameOf(SelectionScope scope) {
  return scope == SelectionScope::kUnit ? "unit" : "global";
}

// Which bytes of a gradient are sent.
struct CompressionOptions {
  CompressionKind kind = CodecNamed("dense");
  double ratio = 0.1;  // top-k: the share of elements kept. Less is fewer bytes and a staler residual
  double delta =
      0.3;            // adaptive: the most that may be lost of the squared norm. More is sparse in more steps
  double ewma = 0.1;  // adaptive: the weight of the newest measurement. More follows faster, noise too
  SelectionScope scope = SelectionScope::kUnit;  // top-k
  bool error_feedback = true;  // what is not sent is added to the next gradient; costs a float per parameter

  friend bool operator==(const CompressionOptions&, const CompressionOptions&) = default;
};

// What is wrong with them, in words.
Status Validate(const CompressionOptions& options);

// Whether all units must be pushed together, because one selection is made among all of them.
bool NeedsWholePush(const CompressionOptions& options);
// Whether a residual is kept from step to step.
bool NeedsResidual(const CompressionOptions& options);
// How many of `count` elements are kept where a selection is made: ratio · count, rounded up.
std::size_t KeptOf(const CompressionOptions& options, std::size_t count);

// A way to encode updates, under the name that experiments call it by: `[compression] kind = "NAME"`.
struct CodecKind {
  std::string name;
  std::string about;
  // Makes the codec for this number of transfer units.
  std::function<std::unique_ptr<Codec>(const CompressionOptions& options, std::size_t units,
                                       const ParallelFor& parallel)>
      make;
  // Which keys of [compression] it follows.
  std::vector<std::string> keys = {"error-feedback"};
  // How the units that it writes are read, where that is not one of the forms of encoding.h. Must outlive everything.
  const UnitForm* form = nullptr;

  bool Uses(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }
};

// Those that every program has, the usual one first. A new codec is a file with a function that returns its kind, and a
// line in codecs.inc.
const std::vector<CompressionKind>& Codecs();

// The codec that the options name.
inline std::unique_ptr<Codec> MakeCodec(const CompressionOptions& options, std::size_t units = 1,
                                        const ParallelFor& parallel = RunInOrder) {
  return options.kind->make(options, units, parallel);
}

}  // namespace tributary::inline policy
