#pragma once

#include <memory>
#include <string>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/saved_network.h"
#include "tributary/model/model.h"
#include "tributary/model/weights_file.h"
#include "tributary/onnx/network_file.h"

namespace tributary::inline cli {

// Saved weights together with a data set that the network can read.
struct FittedNetwork {
  std::shared_ptr<const Model> model;
  FlatBuffer parameters;
  FlatBuffer statistics;
  Dataset data;  // Normalised as the file says.
};

// What a file says of the network in it: an ONNX file all, a safetensors file of this program's what is needed to build it,
// another one nothing.
StatusOr<SavedNetwork> NetworkIn(const NetworkFile& file);

// Builds the network that `network` describes and puts the weights of `file` into it. Refused where it does not fit the
// shape or the classes of the data. `path` and `data_name` are for errors.
StatusOr<FittedNetwork> FitNetwork(const std::string& path, const WeightsFile& file, SavedNetwork network,
                                   const std::string& data_name, Dataset data);

}  // namespace tributary::inline cli
