#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tributary/model/model.h"

namespace tributary {

// What `tributary models` shows of a network: its layers and what they cost.
nlohmann::ordered_json ModelJson(const Model& model);
void PrintModel(const Model& model);

nlohmann::ordered_json ShapeJson(const Shape& shape);

}  // namespace tributary
