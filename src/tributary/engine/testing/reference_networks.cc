#include "tributary/engine/testing/reference_networks.h"

#include <cstring>

#include "tributary/base/check.h"

namespace tributary::inline engine {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Conv2d Conv3x3(int in, int out, int stride, bool bias) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(bias));
}

struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int in, int out, int stride)
      : conv1(register_module("conv1", Conv3x3(in, out, stride, false))),
        bn1(register_module("bn1", nn::BatchNorm2d(out))),
        conv2(register_module("conv2", Conv3x3(out, out, 1, false))),
        bn2(register_module("bn2", nn::BatchNorm2d(out))) {
    if (stride != 1 || in != out) {
      downsample = register_module(
          "downsample", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
                                       nn::BatchNorm2d(out)));
    }
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = bn1(conv1(x)).relu_();
    y = bn2(conv2(y));
    return (y + (downsample.is_empty() ? x : downsample->forward(x))).relu_();
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

// For images of 32 × 32: ResNet-20 has three stages of three blocks, ResNet-18 four of two.
class ResNet : public ReferenceNetwork {
 public:
  ResNet(int width, int stages, int blocks_each)
      : conv1_(register_module("conv1", Conv3x3(3, width, 1, false))),
        bn1_(register_module("bn1", nn::BatchNorm2d(width))),
        fc_(register_module("fc", nn::Linear(width << (stages - 1), 10))) {
    int in = width;
    for (int stage = 0; stage < stages; ++stage) {
      nn::Sequential blocks;
      for (int block = 0; block < blocks_each; ++block) {
        const int out = width << stage;
        blocks->push_back(BasicBlock(in, out, stage > 0 && block == 0 ? 2 : 1));
        in = out;
      }
      stages_.push_back(register_module("layer" + std::to_string(stage + 1), blocks));
    }
  }
  torch::Tensor forward(torch::Tensor x) override {
    x = bn1_(conv1_(x)).relu_();
    for (auto& stage : stages_) x = stage->forward(x);
    return fc_(F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions(1)).flatten(1));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  std::vector<nn::Sequential> stages_;
  nn::Linear fc_;
};

class Vgg11 : public ReferenceNetwork {
 public:
  Vgg11() {
    int in = 3;
    for (const int out : {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0}) {
      if (out == 0) {
        features_->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2)));
      } else {
        features_->push_back(Conv3x3(in, out, 1, true));
        features_->push_back(nn::ReLU(nn::ReLUOptions(true)));
        in = out;
      }
    }
    register_module("features", features_);
    classifier_ = register_module("classifier", nn::Linear(512, 10));
  }
  torch::Tensor forward(torch::Tensor x) override {
    x = F::adaptive_avg_pool2d(features_->forward(x), F::AdaptiveAvgPool2dFuncOptions(1));
    return classifier_(x.flatten(1));
  }

 private:
  nn::Sequential features_;
  nn::Linear classifier_{nullptr};
};

class EveryKind : public ReferenceNetwork {
 public:
  EveryKind()
      : stem_(
            register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, 8, 5).stride(2).padding(2).bias(false)))),
        bn_(register_module("bn", nn::BatchNorm2d(8))),
        depthwise_(register_module("depthwise", nn::Conv2d(nn::Conv2dOptions(8, 8, 3).padding(1).groups(8)))),
        gn_(register_module("gn", nn::GroupNorm(nn::GroupNormOptions(2, 8)))),
        grouped_(register_module(
            "grouped", nn::Conv2d(nn::Conv2dOptions(16, 8, {1, 3}).padding({0, 1}).groups(4).bias(false)))),
        dilated_(register_module("dilated", nn::Conv2d(nn::Conv2dOptions(8, 6, 3).dilation(2)))),
        hidden_(register_module("hidden", nn::Linear(24, 20))),
        fc_(register_module("fc", nn::Linear(nn::LinearOptions(20, 5).bias(false)))) {}
  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor a = bn_(stem_(x)).relu();
    const torch::Tensor b = F::relu6(gn_(depthwise_(a)));
    const torch::Tensor sum = a + b;
    torch::Tensor y = grouped_(torch::cat({sum, b}, 1)) + a;
    y = F::max_pool2d(y, F::MaxPool2dFuncOptions(3).stride(2).padding(1));
    y = dilated_(y).relu();
    y = F::avg_pool2d(y, F::AvgPool2dFuncOptions(2).stride(2));
    return fc_(hidden_(y.flatten(1)).relu());
  }

 private:
  nn::Conv2d stem_;
  nn::BatchNorm2d bn_;
  nn::Conv2d depthwise_;
  nn::GroupNorm gn_;
  nn::Conv2d grouped_, dilated_;
  nn::Linear hidden_, fc_;
};

void CopyInto(torch::Tensor& target, std::span<const float> source) {
  TRIBUTARY_CHECK(target.is_contiguous() && target.numel() == static_cast<std::int64_t>(source.size()));
  std::memcpy(target.data_ptr<float>(), source.data(), source.size_bytes());
}

}  // namespace

std::shared_ptr<ReferenceNetwork> MakeReferenceNetwork(const std::string& name) {
  if (name == "resnet20") return std::make_shared<ResNet>(16, 3, 3);
  if (name == "resnet18") return std::make_shared<ResNet>(64, 4, 2);
  TRIBUTARY_CHECK(name == "vgg11");
  return std::make_shared<Vgg11>();
}

std::shared_ptr<ReferenceNetwork> MakeEveryKindReference() { return std::make_shared<EveryKind>(); }

StatusOr<Graph> MakeEveryKindGraph() {
  GraphBuilder b("every-kind", {3, 32, 32});
  // Without bias: before a batch norm its gradient is zero up to rounding, and compares with nothing.
  NodeIndex x = b.Add(
      "stem", Conv{.out_channels = 8, .kernel = {5, 5}, .stride = {2, 2}, .padding = {2, 2}, .bias = false},
      {0});
  x = b.Add("bn", BatchNorm{}, {x});
  const NodeIndex a = b.Add("relu1", Relu{}, {x});
  x = b.Add("depthwise", Conv{.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .groups = 8}, {a});
  x = b.Add("gn", GroupNorm{2}, {x});
  const NodeIndex left = b.Add("relu6", Relu6{}, {x});
  const NodeIndex sum = b.Add("sum", Add{}, {a, left});
  x = b.Add("cat", Concat{}, {sum, left});
  x = b.Add("grouped",
            Conv{.out_channels = 8, .kernel = {1, 3}, .padding = {0, 1}, .groups = 4, .bias = false}, {x});
  x = b.Add("sum2", Add{}, {x, a});
  x = b.Add("maxpool", MaxPool{{3, 3}, {2, 2}, {1, 1}}, {x});
  x = b.Add("dilated", Conv{.out_channels = 6, .kernel = {3, 3}, .dilation = {2, 2}}, {x});
  x = b.Add("relu2", Relu{}, {x});
  x = b.Add("avgpool", AvgPool{{2, 2}, {2, 2}}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("hidden", Linear{20}, {x});
  x = b.Add("relu3", Relu{}, {x});
  b.Add("fc", Linear{5, false}, {x});
  return std::move(b).Build();
}

void LoadReference(ReferenceNetwork& network, const Model& model, std::span<const float> parameters,
                   std::span<const float> statistics) {
  auto named_parameters = network.named_parameters();
  auto named_buffers = network.named_buffers();
  for (const Layout::Slot& slot : model.parameters.slots) {
    torch::Tensor* target = named_parameters.find(slot.name);
    TRIBUTARY_CHECK(target != nullptr);
    CopyInto(*target, parameters.subspan(slot.segment.offset, slot.segment.count));
  }
  for (const Layout::Slot& slot : model.statistics.slots) {
    torch::Tensor* target = named_buffers.find(slot.name);
    TRIBUTARY_CHECK(target != nullptr);
    CopyInto(*target, statistics.subspan(slot.segment.offset, slot.segment.count));
  }
  TRIBUTARY_CHECK(named_parameters.size() == model.parameters.slots.size());
}

}  // namespace tributary::inline engine
