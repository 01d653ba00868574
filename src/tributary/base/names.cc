#include "tributary/base/names.h"

#include <algorithm>

namespace tributary::inline base {
namespace {

// Optimal string alignment distance, over three rows.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string_view NearestName(std::string_view found, std::span<const std::string> allowed) {
  constexpr std::size_t kLongest = 64;  // Longer than every valid name: not a typing error.
  if (found.size() > kLongest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, found.size() / 3) + 1;
  for (const std::string& name : allowed) {
    const std::size_t distance = Distance(found, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

Status UnknownName(std::string_view what, std::string_view found, std::span<const std::string> allowed) {
  std::string message = "unknown " + std::string(what) + " '" + std::string(found.substr(0, 64)) + "'";
  const std::string_view nearest = NearestName(found, allowed);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  message += nearest.empty() ? ". Known: " : " Known: ";
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (i > 0) message += ", ";
    message += allowed[i];
  }
  return InvalidArgument(std::move(message));
}

}  // namespace tributary::inline base
