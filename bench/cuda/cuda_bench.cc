// ResNet-18 on a GPU. First a training step of the engine against plain torch::nn modules with
// torch::optim::SGD, alternating in one process. Then sixteen simulated devices that train concurrently with
// their own batches, against one process that trains with all samples as one batch. Prints ratios of medians.

#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/base/worker_pool.h"
#include "tributary/device/worker.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/testing/reference_networks.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Milliseconds;

constexpr double kLearningRate = 0.01, kMomentum = 0.9, kWeightDecay = 5e-4;
constexpr std::size_t kDevices = 16;
constexpr int kLocalSteps = 48;  // about an epoch of CIFAR-10 over all devices, in batches of 64

std::shared_ptr<const Model> BuildModel() {
  return std::make_shared<const Model>(
      BuildZooGraph({"resnet18", Shape{3, 32, 32}, 10, Stem::kAuto}).value());
}

OptimiserOptions Momentum() {
  OptimiserOptions options;
  options.momentum = kMomentum;
  options.weight_decay = kWeightDecay;
  return options;
}

struct Samples {
  explicit Samples(std::size_t count) : inputs(count * 3 * 32 * 32), labels(count) {
    Rng rng(1);
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(rng.Below(10));
  }
  BatchView batch() const { return {inputs, labels}; }
  Dataset dataset() const {
    return Dataset::Make({.name = "noise", .shape = {3, 32, 32}, .classes = 10}, inputs, labels).value();
  }

  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
};

// The engine with weights that stay on the GPU.
class Resident {
 public:
  explicit Resident(const std::shared_ptr<const Model>& model)
      : parameters_(model->parameters.size),
        statistics_(model->statistics.size),
        gradients_(model->parameters.size),
        executor_(model, {parameters_.span(), statistics_.span(), gradients_.span()},
                  {.device = TorchDevice::kCuda}) {
    InitialiseWeights(*model, 1, parameters_.span(), statistics_.span());
    TRIBUTARY_CHECK(executor_.Hold(Momentum()).ok());
  }
  void Step(const BatchView& batch) {
    TRIBUTARY_CHECK(executor_.Train(batch).ok());
    TRIBUTARY_CHECK(executor_.StepResident(kLearningRate).ok());
  }
  const FlatBuffer& parameters() const { return parameters_; }
  const FlatBuffer& statistics() const { return statistics_; }

 private:
  FlatBuffer parameters_, statistics_, gradients_;
  Executor executor_;
};

void CompareSteps(std::size_t count, int steps) {
  const auto model = BuildModel();
  Samples samples(count);
  Resident ours(model);
  const auto batch_size = static_cast<std::int64_t>(count);
  const torch::Tensor host_x =
      torch::from_blob(samples.inputs.data(), {batch_size, 3, 32, 32}, torch::kFloat);
  const torch::Tensor host_y =
      torch::from_blob(samples.labels.data(), {batch_size}, torch::kInt).to(torch::kLong);
  // In the default memory format, and in the faster channels-last format.
  for (const bool channels_last : {false, true}) {
    const auto reference = MakeReferenceNetwork("resnet18");
    LoadReference(*reference, *model, ours.parameters().span(), ours.statistics().span());
    reference->to(torch::kCUDA);
    if (channels_last) {
      for (torch::Tensor& parameter : reference->parameters()) {
        if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
      }
    }
    torch::optim::SGD optimiser(
        reference->parameters(),
        torch::optim::SGDOptions(kLearningRate).momentum(kMomentum).weight_decay(kWeightDecay));
    const auto plain_step = [&] {
      torch::Tensor x = host_x.to(torch::kCUDA);
      if (channels_last) x = x.contiguous(torch::MemoryFormat::ChannelsLast);
      const torch::Tensor y = host_y.to(torch::kCUDA);
      optimiser.zero_grad();
      const torch::Tensor scores = reference->forward(x);
      const torch::Tensor loss = torch::nn::functional::cross_entropy(scores, y);
      loss.backward();
      optimiser.step();
      // Reported by any training loop, and by the engine.
      static_cast<void>(loss.item<double>() + scores.argmax(1).eq(y).sum().item<double>());
      torch::cuda::synchronize();
    };
    std::vector<double> plain_ms, ours_ms;
    for (int i = -10; i < steps; ++i) {
      const double a = Milliseconds(plain_step);
      const double b = Milliseconds([&] {
        ours.Step(samples.batch());
        torch::cuda::synchronize();
      });
      if (i < 0) continue;
      plain_ms.push_back(a);
      ours_ms.push_back(b);
    }
    const double gflop =
        6e-9 * static_cast<double>(TotalMacs(model->costs).value) * static_cast<double>(count);
    std::printf(
        "resnet18, batch %zu: plain torch%s %.2f ms   engine %.2f ms   ratio %.3f   (%.1f TFLOP/s, %.0f "
        "samples/s)\n",
        count, channels_last ? ", channels last," : "", Median(plain_ms), Median(ours_ms),
        Median(ours_ms) / Median(plain_ms), gflop / Median(ours_ms),
        1e3 * static_cast<double>(count) / Median(ours_ms));
    std::fflush(stdout);
  }
}

// Samples per second of the simulated devices and of one process.
void CompareThroughput(std::size_t batch, std::size_t threads, int rounds) {
  const auto model = BuildModel();
  Samples together(batch * kDevices);
  Resident one(model);
  const Dataset dataset = together.dataset();
  std::vector<LocalData> data(kDevices);
  for (std::size_t device = 0; device < kDevices; ++device) {
    data[device].dataset = &dataset;
    for (std::size_t i = 0; i < batch; ++i)
      data[device].training.push_back(static_cast<std::uint32_t>(device * batch + i));
  }
  FlatBuffer parameters(model->parameters.size), statistics(model->statistics.size);
  InitialiseWeights(*model, 1, parameters.span(), statistics.span());
  WorkerPool pool(threads, [](std::size_t) { SetComputeThreads(1); });
  std::vector<Worker> workers;
  for (std::size_t i = 0; i < threads; ++i)
    workers.emplace_back(model, ExecutorOptions{.device = TorchDevice::kCuda});
  TrainAssignment assignment;
  assignment.answer = TrainAssignment::Answer::kChange;
  assignment.steps = kLocalSteps;
  assignment.batch = batch;
  assignment.optimiser = Momentum();
  assignment.learning_rate = kLearningRate;
  std::vector<double> one_ms, devices_ms;
  for (int i = -2; i < rounds; ++i) {
    const double a = Milliseconds([&] {
      for (int step = 0; step < kLocalSteps; ++step) one.Step(together.batch());
      torch::cuda::synchronize();
    });
    const double b = Milliseconds([&] {
      const Status ran = pool.Run(kDevices, [&](std::size_t worker, std::size_t device) {
        return workers[worker]
            .Train(assignment, {parameters.span(), statistics.span()}, DeviceId{device}, data[device])
            .status();
      });
      if (!ran.ok()) std::fprintf(stderr, "%s\n", ran.message().c_str());
      TRIBUTARY_CHECK(ran.ok());
    });
    if (i < 0) continue;
    one_ms.push_back(a);
    devices_ms.push_back(b);
  }
  const double samples = static_cast<double>(batch * kDevices * kLocalSteps);
  std::printf(
      "%zu devices of batch %zu on %zu threads: %.0f samples/s   one process, batch %zu: %.0f samples/s   "
      "share %.3f\n",
      kDevices, batch, threads, 1e3 * samples / Median(devices_ms), batch * kDevices,
      1e3 * samples / Median(one_ms), Median(one_ms) / Median(devices_ms));
  std::fflush(stdout);
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  const auto device = tributary::FindTorchDevice("cuda");
  if (!device.ok()) {
    std::fprintf(stderr, "%s\n", device.status().message().c_str());
    return 2;
  }
  const int steps = argc > 1 ? std::atoi(argv[1]) : 50;
  std::vector<std::size_t> batches;
  for (int i = 2; i < argc; ++i) batches.push_back(static_cast<std::size_t>(std::max(0, std::atoi(argv[i]))));
  if (steps < 0 || std::count(batches.begin(), batches.end(), 0u) > 0) {
    std::fprintf(stderr, "usage: cuda [steps, 0 for none] [a device's batch…]\n");
    return 2;
  }
  if (batches.empty()) batches = {32, 64, 128, 256};
  tributary::SetComputeThreads(1);
  for (const std::size_t batch : {64, 128, 512}) {
    if (steps > 0) tributary::CompareSteps(batch, steps);
  }
  for (const std::size_t batch : batches) {
    for (const std::size_t threads : {4, 2}) tributary::CompareThroughput(batch, threads, 3);
  }
  return 0;
}
