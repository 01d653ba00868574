#include "tributary/experiment/portion.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"

namespace tributary {

std::int64_t Portion::Of(std::int64_t total) const {
  TRIBUTARY_CHECK(total >= 1);
  const auto* count = std::get_if<std::int64_t>(&amount);
  const std::int64_t some =
      count != nullptr ? *count : std::llround(std::get<double>(amount) * static_cast<double>(total));
  return std::clamp<std::int64_t>(some, 1, total);
}

}  // namespace tributary
