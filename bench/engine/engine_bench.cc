// A training step (forward, backward, SGD with momentum) of the engine against plain torch::nn modules with
// torch::optim::SGD, alternating in one process. Prints ratios of medians.

#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/executor.h"
#include "tributary/engine/testing/reference_networks.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Milliseconds;

constexpr int kBatch = 64;
constexpr double kLearningRate = 0.01;
constexpr double kMomentum = 0.9;
constexpr double kWeightDecay = 5e-4;

// A network in the engine, with weights, gradients and optimiser.
class Ours {
 public:
  Ours(std::shared_ptr<const Model> model, MemoryFormat format)
      : parameters_(model->parameters.size),
        statistics_(model->statistics.size),
        gradients_(model->parameters.size),
        executor_(model, {parameters_.span(), statistics_.span(), gradients_.span()}, {format}) {
    InitialiseWeights(*model, 1, parameters_.span(), statistics_.span());
    OptimiserOptions options;
    options.momentum = kMomentum;
    options.weight_decay = kWeightDecay;
    optimiser_ = MakeOptimiser(options, parameters_.size()).value();
  }
  void Step(const BatchView& batch) {
    PassOptions options;
    options.rng = &rng_;
    TRIBUTARY_CHECK(executor_.Train(batch, options).ok());
    optimiser_->Step(parameters_.span(), gradients_.span(), kLearningRate);
  }
  std::span<const float> parameters() const { return parameters_.span(); }
  std::span<const float> statistics() const { return statistics_.span(); }

 private:
  FlatBuffer parameters_, statistics_, gradients_;
  Executor executor_;
  std::unique_ptr<Optimiser> optimiser_;
  Rng rng_{1};
};

std::shared_ptr<const Model> BuildModel(const std::string& name) {
  return std::make_shared<const Model>(BuildZooGraph({name, Shape{3, 32, 32}, 10, Stem::kAuto}).value());
}

struct Samples {
  Samples() : inputs(kBatch * 3 * 32 * 32), labels(kBatch) {
    Rng rng(1);
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(rng.Below(10));
  }
  BatchView batch() const { return {inputs, labels}; }

  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
};

void CompareWithPlainTorch(const std::string& name, int steps) {
  const auto model = BuildModel(name);
  Samples samples;
  const BatchView batch = samples.batch();

  Ours ours(model, MemoryFormat::kAuto);
  const auto reference = MakeReferenceNetwork(name);
  LoadReference(*reference, *model, ours.parameters(), ours.statistics());
  torch::optim::SGD optimiser(
      reference->parameters(),
      torch::optim::SGDOptions(kLearningRate).momentum(kMomentum).weight_decay(kWeightDecay));
  const torch::Tensor x = torch::from_blob(samples.inputs.data(), {kBatch, 3, 32, 32}, torch::kFloat);
  const torch::Tensor y = torch::from_blob(samples.labels.data(), {kBatch}, torch::kInt).to(torch::kLong);
  const auto plain_step = [&] {
    optimiser.zero_grad();
    const torch::Tensor scores = reference->forward(x);
    const torch::Tensor loss = torch::nn::functional::cross_entropy(scores, y);
    loss.backward();
    optimiser.step();
    // Reported by any training loop, and by the engine.
    static_cast<void>(loss.item<double>() + scores.argmax(1).eq(y).sum().item<double>());
  };

  std::vector<double> plain_ms, ours_ms;
  for (int i = -3; i < steps; ++i) {  // three warm-ups
    const double a = Milliseconds(plain_step);
    const double b = Milliseconds([&] { ours.Step(batch); });
    if (i < 0) continue;
    plain_ms.push_back(a);
    ours_ms.push_back(b);
  }
  const double gflop = 6e-9 * static_cast<double>(TotalMacs(model->costs).value) * kBatch;
  std::printf("%-13s plain torch %7.1f ms   engine %7.1f ms   ratio %.3f   (%.0f GFLOP/s)\n", name.c_str(),
              Median(plain_ms), Median(ours_ms), Median(ours_ms) / Median(plain_ms),
              1e3 * gflop / Median(ours_ms));
}

// The engine with both memory formats: the measurement behind MemoryFormat::kAuto.
void CompareFormats(const std::string& name, int steps) {
  const auto model = BuildModel(name);
  const Samples samples;
  Ours contiguous(model, MemoryFormat::kContiguous);
  Ours channels_last(model, MemoryFormat::kChannelsLast);
  std::vector<double> contiguous_ms, channels_last_ms;
  for (int i = -2; i < steps; ++i) {
    const double a = Milliseconds([&] { contiguous.Step(samples.batch()); });
    const double b = Milliseconds([&] { channels_last.Step(samples.batch()); });
    if (i < 0) continue;
    contiguous_ms.push_back(a);
    channels_last_ms.push_back(b);
  }
  std::printf("%-13s contiguous  %7.1f ms   channels-last %7.1f ms   ratio %.3f\n", name.c_str(),
              Median(contiguous_ms), Median(channels_last_ms),
              Median(channels_last_ms) / Median(contiguous_ms));
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 25;
  const int threads = argc > 2 ? std::atoi(argv[2]) : static_cast<int>(std::thread::hardware_concurrency());
  if (steps < 1 || threads < 1) {
    std::fprintf(stderr, "usage: engine [steps] [threads]\n");
    return 2;
  }
  tributary::KeepFreedMemory();
  tributary::SetComputeThreads(threads);
  std::printf("one training step, 3x32x32, batch 64, %d threads, %d steps each, alternating; medians\n",
              threads, steps);
  for (const char* name : {"resnet20", "vgg11"}) tributary::CompareWithPlainTorch(name, steps);
  for (const char* name :
       {"lenet5", "cnn", "resnet8", "resnet20", "mobilenet-v2", "resnet18", "vgg11", "vgg16"}) {
    tributary::CompareFormats(name, (steps + 1) / 2);
  }
}
