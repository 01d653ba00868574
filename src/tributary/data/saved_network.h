#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/model/weights_file.h"
#include "tributary/model/zoo.h"

namespace tributary::inline data {

// The description of a network in a weights file: everything to build it again and to normalise its inputs.
struct SavedNetwork {
  ZooOptions zoo;
  std::string data;                        // the training data set
  Normalisation normalisation;             // of the inputs
  std::vector<std::string> class_names{};  // of the outputs, in order; may be empty
};

Metadata ToMetadata(const SavedNetwork& network);

// nullopt if this program did not write the file; an error if it did and the description is invalid.
StatusOr<std::optional<SavedNetwork>> FromMetadata(const Metadata& metadata);

}  // namespace tributary::inline data
