#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline policy {

class Codec;
struct CodecKind;
struct CompressionOptions;

// One of Codecs() (codecs.h), or one that the program was given.
using CompressionKind = std::shared_ptr<const CodecKind>;
// The built-in codec of this name, which must be there.
const CompressionKind& CodecNamed(std::string_view name);

enum class SelectionScope {
  kUnit,    // the largest of each transfer unit, which can be sent as soon as it is ready
  kGlobal,  // the largest of the whole gradient: it is sent in one piece
};
inline constexpr SelectionScope kSelectionScopes[] = {SelectionScope::kUnit, SelectionScope::kGlobal};
std::string_view NameOf(SelectionScope scope);
StatusOr<SelectionScope> ParseSelectionScope(std::string_view name);

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

}  // namespace tributary::inline policy
