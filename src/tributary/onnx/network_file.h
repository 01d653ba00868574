#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tributary/model/weights_file.h"
#include "tributary/onnx/import.h"

namespace tributary::inline onnx {

// A file with weights of either kind that is read here: ONNX, which says what the network is, or safetensors, which may.
struct NetworkFile {
  WeightsFile weights;
  std::shared_ptr<const Graph> graph;  // of an ONNX file; else null
  std::vector<std::string> notes;      // see OnnxNetwork
};

// Whether a file is taken for ONNX: by its name's ending.
bool IsOnnxName(const std::filesystem::path& path);

StatusOr<NetworkFile> ReadNetworkFile(const std::filesystem::path& path,
                                      const OnnxImportOptions& options = {});

// Writes a network with its weights as a file of the kind that its name says: ONNX, else safetensors.
Status WriteNetworkFile(const std::filesystem::path& path, const Model& model,
                        std::span<const float> parameters, std::span<const float> statistics,
                        const Metadata& metadata);

}  // namespace tributary::inline onnx
