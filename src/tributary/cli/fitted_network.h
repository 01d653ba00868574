#pragma once

#include <memory>
#include <string>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/saved_network.h"
#include "tributary/model/model.h"
#include "tributary/model/weights_file.h"

namespace tributary {

// Saved weights together with a data set that the network can read.
struct FittedNetwork {
  std::shared_ptr<const Model> model;
  FlatBuffer parameters;
  FlatBuffer statistics;
  Dataset data;  // Normalised as the file says.
};

// Builds the network that `network` describes and puts the weights of `file` into it. Refused where it does not fit the
// shape or the classes of the data. `path` and `data_name` are for errors.
StatusOr<FittedNetwork> FitNetwork(const std::string& path, const WeightsFile& file, SavedNetwork network,
                                   const std::string& data_name, Dataset data);

}  // namespace tributary
