#pragma once

#include <string>

#include "tributary/model/graph.h"

namespace tributary::zoo {

// Convolution without bias, batch norm, ReLU, under the names that the reference implementations of the Inception
// networks give them: NAME.conv, NAME.bn.
inline NodeIndex ConvNormRelu(GraphBuilder& b, const std::string& name, NodeIndex x, Conv operation) {
  operation.bias = false;
  x = b.Add(name + ".conv", operation, {x});
  x = b.Add(name + ".bn", BatchNorm{.epsilon = 0.001}, {x});
  return b.Add(name + ".relu", Relu{}, {x});
}

}  // namespace tributary::zoo
