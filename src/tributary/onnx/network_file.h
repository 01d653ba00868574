#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/model/model.h"
#include "tributary/model/weights_file.h"

namespace tributary::inline onnx {

// A network read from an ONNX file.
struct OnnxNetwork {
  Graph graph;
  FlatBuffer parameters, statistics;  // in the layouts of Model(graph)
  Metadata metadata;                  // of the file
  std::vector<std::string> notes;     // deviations of the import from the file, for people
};

struct OnnxImportOptions {
  // Name of the network; `network` if empty.
  std::string name;
  // The shape of a sample, if the file leaves height or width open.
  std::optional<Shape> input;
};

// Imports convolutional classifiers as exported by PyTorch and Keras (tf2onnx): the operators of
// OnnxOperators(), one input, one output of class scores. A final softmax is left out, because the loss
// includes it. Shared weights are copied for each node. Samples become channels × height × width; inputs with
// channels last are converted.
//
// Everything else is an error with the node, the attribute and what is allowed. Safe on arbitrary bytes.
StatusOr<OnnxNetwork> ImportOnnx(ByteSpan file, const OnnxImportOptions& options,
                                 const std::optional<std::filesystem::path>& folder = std::nullopt);
// The same from a file; errors begin with its name. The default name of the network is that of the file.
StatusOr<OnnxNetwork> ReadOnnxNetwork(const std::filesystem::path& path, OnnxImportOptions options = {});

// The supported operators, for people: "Add, AveragePool, …".
std::string OnnxOperators();

// Atomically replaces `path` with the network as an ONNX file for inference. The input is `input`, [batch,
// channels, height, width] with any batch size; the output is `scores`, [batch, classes], without a softmax.
// Weights have their PyTorch names. Importing the file gives the same network, bit for bit.
//
// Uses operator set 13, which all runtimes read, or 21 for group norms. The format limits files to 2 GB;
// larger networks are refused.
Status WriteOnnx(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                 std::span<const float> statistics, const Metadata& metadata);

// A weights file: ONNX, which contains the graph, or safetensors, which may describe it in its metadata.
struct NetworkFile {
  WeightsFile weights;
  std::shared_ptr<const Graph> graph;  // null for safetensors
  std::vector<std::string> notes;      // see OnnxNetwork
};

// Whether the file name's extension is that of ONNX.
bool IsOnnxName(const std::filesystem::path& path);

StatusOr<NetworkFile> ReadNetworkFile(const std::filesystem::path& path,
                                      const OnnxImportOptions& options = {});

// Writes ONNX or safetensors, depending on the extension.
Status WriteNetworkFile(const std::filesystem::path& path, const Model& model,
                        std::span<const float> parameters, std::span<const float> statistics,
                        const Metadata& metadata);

}  // namespace tributary::inline onnx
