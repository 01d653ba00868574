// Steps on weights that are held, against the optimisers of policy/optimisation on the same gradients.

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/executor.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline engine {
namespace {

std::vector<TorchDevice> Devices() {
  std::vector<TorchDevice> devices = {TorchDevice::kCpu};
  if (FindTorchDevice("cuda").ok()) devices.push_back(TorchDevice::kCuda);
  return devices;
}

struct Network {
  Network(const std::shared_ptr<const Model>& model, TorchDevice device)
      : parameters(model->parameters.size),
        statistics(model->statistics.size),
        gradients(model->parameters.size),
        executor(model, {parameters.span(), statistics.span(), gradients.span()}, {.device = device}) {
    InitialiseWeights(*model, 3, parameters.span(), statistics.span());
  }
  FlatBuffer parameters, statistics, gradients;
  Executor executor;
};

std::vector<OptimiserOptions> Optimisers() {
  OptimiserOptions plain, momentum, nesterov, adam;
  momentum.momentum = 0.9;
  momentum.weight_decay = 1e-2;
  nesterov.momentum = 0.8;
  nesterov.nesterov = true;
  adam.name = "adam";
  adam.weight_decay = 1e-3;
  return {plain, momentum, nesterov, adam};
}

class ResidentSteps : public ::testing::Test {
 protected:
  ResidentSteps()
      : model_(
            std::make_shared<const Model>(BuildZooGraph({"cnn", Shape{1, 12, 12}, 4, Stem::kAuto}).value())) {
    SetComputeThreads(1);
    Rng rng(5);
    inputs_.resize(6 * 144);
    for (float& value : inputs_) value = static_cast<float>(Normal(rng));
    labels_ = {0, 1, 2, 3, 1, 0};
  }
  BatchView batch() const { return {inputs_, labels_}; }

  std::shared_ptr<const Model> model_;
  std::vector<float> inputs_;
  std::vector<std::int32_t> labels_;
};

TEST_F(ResidentSteps, AreThoseOfTheOptimiser) {
  at::globalContext().setAllowTF32CuDNN(
      false);  // Products of shortened numbers would hide what is looked for.
  for (const TorchDevice device : Devices()) {
    for (const OptimiserOptions& options : Optimisers()) {
      for (const double prox : {0.0, 0.1}) {
        const double rate = options.name == "adam" ? 1e-3 : 0.02;
        Network held(model_, device), plain(model_, TorchDevice::kCpu);
        const std::vector<float> origin(plain.parameters.span().begin(), plain.parameters.span().end());
        auto state = MakeOptimiser(options, origin.size()).value();
        const auto optimiser = MakeOptimiser(options, origin.size()).value();
        for (int part = 0; part < 2; ++part) {  // the second goes on from what the first has left
          ASSERT_TRUE(held.executor.Hold(options, prox, state.get()).ok());
          const std::vector<float> start(plain.parameters.span().begin(), plain.parameters.span().end());
          for (int step = 0; step < 3; ++step) {
            Rng held_rng(9), plain_rng(9);
            const auto one = held.executor.Train(batch(), {.rng = &held_rng});
            const auto other = plain.executor.Train(batch(), {.rng = &plain_rng});
            ASSERT_TRUE(one.ok() && other.ok());
            EXPECT_NEAR(one->loss, other->loss, device == TorchDevice::kCpu ? 1e-5 : 1e-4);
            ASSERT_TRUE(held.executor.StepResident(rate).ok());
            for (std::size_t i = 0; i < start.size(); ++i) {
              plain.gradients.data()[i] += static_cast<float>(prox) * (plain.parameters.data()[i] - start[i]);
            }
            optimiser->Step(plain.parameters.span(), plain.gradients.span(), rate);
          }
          ASSERT_TRUE(held.executor.Release().ok());
          EXPECT_EQ(state->steps(), optimiser->steps());
          const double close = device == TorchDevice::kCpu ? 1e-6 : 1e-4;
          for (std::size_t i = 0; i < start.size(); ++i) {
            ASSERT_NEAR(static_cast<double>(held.parameters.data()[i]),
                        static_cast<double>(plain.parameters.data()[i]), close)
                << options.name << " " << options.momentum << " prox " << prox << " element " << i;
          }
        }
      }
    }
  }
}

TEST_F(ResidentSteps, LeaveTheCallersWeightsAloneElsewhereUntilReleased) {
  if (!FindTorchDevice("cuda").ok()) return;
  Network held(model_, TorchDevice::kCuda);
  const std::vector<float> before(held.parameters.span().begin(), held.parameters.span().end());
  Rng rng(1);
  ASSERT_TRUE(held.executor.Hold({}).ok());
  ASSERT_TRUE(held.executor.Train(batch(), {.rng = &rng}).ok());
  ASSERT_TRUE(held.executor.StepResident(0.1).ok());
  EXPECT_TRUE(std::ranges::equal(held.parameters.span(), before));
  ASSERT_TRUE(held.executor.Release().ok());
  EXPECT_FALSE(std::ranges::equal(held.parameters.span(), before));
}

TEST(TorchDeviceName, IsFoundOrRefused) {
  EXPECT_EQ(*FindTorchDevice("cpu"), TorchDevice::kCpu);
  EXPECT_EQ(FindTorchDevice("cuda:1").status().message().substr(0, 14), "unknown torch ");
  const auto cuda = FindTorchDevice("cuda");
  if (cuda.ok()) {
    EXPECT_EQ(*cuda, TorchDevice::kCuda);
  } else {
    EXPECT_NE(cuda.status().message().find("'cpu' is always there"), std::string::npos);
  }
}

}  // namespace
}  // namespace tributary::inline engine
