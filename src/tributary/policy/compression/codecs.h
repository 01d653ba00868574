#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/policy/compression/codec.h"
#include "tributary/policy/compression/compression_options.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline policy {

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
