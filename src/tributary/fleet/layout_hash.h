#pragma once

#include <string>

#include "tributary/model/model.h"

namespace tributary::inline fleet {

// Stands for how a network lies in memory: names, places and sizes of all its arrays, and the operations in between.
// Two programs that agree in it mean the same numbers by the same offsets.
std::string LayoutHash(const Model& model);

}  // namespace tributary::inline fleet
