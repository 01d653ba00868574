#pragma once

#include <string>

#include "tributary/model/model.h"

namespace tributary::inline fleet {

// Hash of a network's memory layout (names, offsets, sizes of all arrays) and of its operations.
std::string LayoutHash(const Model& model);

}  // namespace tributary::inline fleet
