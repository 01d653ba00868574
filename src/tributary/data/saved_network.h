#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/model/weights_file.h"
#include "tributary/model/zoo.h"

namespace tributary::inline data {

// What a weights file says about the network in it, besides the weights: enough to build it again and to feed it the
// numbers it was trained on.
struct SavedNetwork {
  ZooOptions zoo;
  std::string data;                        // the data set it was trained on
  Normalisation normalisation;             // of its inputs
  std::vector<std::string> class_names{};  // of its outputs, in their order; empty where they have none
};

Metadata ToMetadata(const SavedNetwork& network);

// Reads it back. Nothing where the file was not written by this program; an error where it was, but makes no sense.
StatusOr<std::optional<SavedNetwork>> FromMetadata(const Metadata& metadata);

}  // namespace tributary::inline data
