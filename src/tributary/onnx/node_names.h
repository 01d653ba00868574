#pragma once

#include <string>
#include <vector>

#include "tributary/onnx/document.h"

namespace tributary::inline onnx {

// A name for every node of the file that can become a layer, no two the same, made of letters, digits, '.', '_' and '-': what a person would call
// the layer.
//   - A layer is called as its weights are: 'layer1.0.conv1.weight' belongs to layer1.0.conv1, as in PyTorch.
//   - Else a node has its module's name: PyTorch's '/layer1/layer1.0/conv1/Conv' is layer1.0.conv1 likewise, and the
//     addition in the block, '/layer1/layer1.0/Add', is layer1.0.add.
//   - Else its own name, or its operator and a number.
std::vector<std::string> NameOnnxNodes(const OnnxGraph& graph);

// The text with everything but those letters replaced by '_', at most 120 of them.
std::string PlainLayerName(std::string_view text);

}  // namespace tributary::inline onnx
