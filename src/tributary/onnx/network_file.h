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

// A network out of an ONNX file, with its weights.
struct OnnxNetwork {
  Graph graph;
  FlatBuffer parameters, statistics;  // laid out as Model says for the graph
  Metadata metadata;                  // what its writer said of it
  std::vector<std::string> notes;     // what was understood in another way than it stands there, for people
};

struct OnnxImportOptions {
  // What the network is called; `network` where the text is empty.
  std::string name;
  // The shape of a sample, where the file leaves height or width open.
  std::optional<Shape> input;
};

// Understands convolutional classifiers as PyTorch and Keras (tf2onnx) export them: the operators of OnnxOperators(), one
// input, one output of class scores. A softmax at the end is left out: the loss has it. Weights that several nodes share
// become each one's own. Samples are channels × height × width here; a file whose input has the channels last is
// understood, too.
//
// Whatever else is refused with the node, the attribute and what is allowed. Any bytes may be given.
StatusOr<OnnxNetwork> ImportOnnx(ByteSpan file, const OnnxImportOptions& options,
                                 const std::optional<std::filesystem::path>& folder = std::nullopt);
// The same from a file, by whose name errors begin. Without a name in the options the network is called as the file.
StatusOr<OnnxNetwork> ReadOnnxNetwork(const std::filesystem::path& path, OnnxImportOptions options = {});

// The operators that are understood, for people: "Add, AveragePool, …".
std::string OnnxOperators();

// Replaces `path` by the network as an ONNX file, for inference anywhere ONNX runs, or leaves it as it was. Its input is
// called `input`, [batch, channels, height, width] with a batch of any size; its output `scores`, [batch, classes], without
// a softmax. Weights have their PyTorch names. What is imported again is the same network, bit for bit.
//
// Operator set 13, which everything reads; 21 where the network has group norms, which came with it. Files are limited to
// 2 GB by the format; larger networks are refused.
Status WriteOnnx(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                 std::span<const float> statistics, const Metadata& metadata);

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
