#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/model/graph.h"
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

}  // namespace tributary::inline onnx
