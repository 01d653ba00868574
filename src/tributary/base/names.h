#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline base {

// The allowed name nearest to `found` by edit distance (a swap of neighbours counts once), or empty if none
// is near. One letter may always differ, and up to a third of the letters.
std::string_view NearestName(std::string_view found, std::span<const std::string> allowed);

// "unknown model 'resnet81'; did you mean 'resnet18'? Known: …". `what` is a singular noun.
Status UnknownName(std::string_view what, std::string_view found, std::span<const std::string> allowed);

// The enum value among `values` whose NameOf is `name`, or UnknownName.
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
