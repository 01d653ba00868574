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

// Saved weights with a data set that fits the network.
struct FittedNetwork {
  std::shared_ptr<const Model> model;
  FlatBuffer parameters;
  FlatBuffer statistics;
  Dataset data;  // normalised as the file says
};

// The network that a file describes: complete in an ONNX file, enough to build it in a safetensors file of
// this program, empty in other files.
StatusOr<SavedNetwork> NetworkIn(const NetworkFile& file);

// Builds `network` with the weights of `file`. Refused if it does not fit the shape or the classes of the
// data. `path` and `data_name` are for errors.
StatusOr<FittedNetwork> FitNetwork(const std::string& path, const WeightsFile& file, SavedNetwork network,
                                   const std::string& data_name, Dataset data);

}  // namespace tributary::inline cli
