#pragma once

#include <string>
#include <vector>

#include "tributary/onnx/document.h"

namespace tributary::inline onnx {

// A unique layer name for every node that can become a layer, of letters, digits, '.', '_' and '-':
//   - the name of its weights: 'layer1.0.conv1.weight' gives layer1.0.conv1, as in PyTorch;
//   - else its module's name: PyTorch's '/layer1/layer1.0/conv1/Conv' gives layer1.0.conv1 too, and the
//     addition '/layer1/layer1.0/Add' gives layer1.0.add;
//   - else its own name, or its operator and a number.
std::vector<std::string> NameOnnxNodes(const OnnxGraph& graph);

// The first 120 characters, with all other characters replaced by '_'.
std::string PlainLayerName(std::string_view text);

}  // namespace tributary::inline onnx
