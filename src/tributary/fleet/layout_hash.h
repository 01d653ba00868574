#pragma once

#include <string>

#include "tributary/model/model.h"

namespace tributary::inline fleet {

// Identifies a network's memory layout: names, offsets and sizes of all arrays, and the operations between
// them. Programs with equal hashes mean the same values by the same offsets.
std::string LayoutHash(const Model& model);

}  // namespace tributary::inline fleet
