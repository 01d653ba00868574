#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline base {

// The allowed name closest to `found` (edit distance, neighbours swapped count once), or empty when none is close
// enough to be what the person meant: at most a third of the letters wrong, and always at least one allowed.
std::string_view NearestName(std::string_view found, std::span<const std::string> allowed);

// The error for a name that does not exist: "unknown model 'resnet81'; did you mean 'resnet18'? Known: …".
// `what` is the kind of thing, in the singular.
Status UnknownName(std::string_view what, std::string_view found, std::span<const std::string> allowed);

// The one of an enum's `values` that NameOf calls `name`, or UnknownName.
template <typename Enum, std::size_t n>
StatusOr<Enum> ParseName(std::string_view what, const Enum (&values)[n], std::string_view name) {
  std::vector<std::string> names;
  for (const Enum value : values) {
    if (NameOf(value) == name) return value;
    names.emplace_back(NameOf(value));
  }
  return UnknownName(what, name, names);
}

}  // namespace tributary::inline base
