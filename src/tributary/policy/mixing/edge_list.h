#pragma once
#include <string_view>
#include "tributary/policy/mixing/topology.h"
namespace tributary {
StatusOr<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ParseEdgeList(std::string_view text);
}
