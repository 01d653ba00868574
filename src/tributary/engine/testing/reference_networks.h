#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>

#include "tributary/model/model.h"

namespace tributary::inline engine {

// The same networks written by hand as plain torch::nn modules, the way a user of libtorch would: what the engine is
// compared with, in values and in speed. Parameters are registered under the names of the zoo.
class ReferenceNetwork : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor x) = 0;
};

// "resnet18", "resnet20" or "vgg11" for 3×32×32, 10 classes.
std::shared_ptr<ReferenceNetwork> MakeReferenceNetwork(const std::string& name);

// A small network with every kind of node, and the graph that says the same.
std::shared_ptr<ReferenceNetwork> MakeEveryKindReference();
StatusOr<Graph> MakeEveryKindGraph();

// Copies flat weights into the modules; every name must be there and of the same shape.
void LoadReference(ReferenceNetwork& network, const Model& model, std::span<const float> parameters,
                   std::span<const float> statistics);

}  // namespace tributary::inline engine
