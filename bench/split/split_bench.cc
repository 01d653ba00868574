// Overhead of split learning: a step with 8 devices on this machine, over sockets, against the same step in
// one place (same network, same number of samples, one compute thread: forward, backward and optimiser step).
// And the bytes sent against the minimum: activations and labels up, gradients down, and the front's weights
// and gradients. Runs alternate; medians.
//
// On one machine the fronts run in parallel and the coordinator's part after them: with a core per device a
// step could be shorter than in one place; with two cores it shows the cost of messages and waiting.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/coordinator/serving.h"
#include "tributary/device/device_runtime.h"
#include "tributary/device/setting.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/executor.h"
#include "tributary/experiment/reader.h"
#include "tributary/fleet/grpc/device_agent.h"
#include "tributary/model/initialise.h"

namespace tributary {
namespace {

using bench::Median;

constexpr std::size_t kDevices = 8;
constexpr std::size_t kBatch = 128;
constexpr int kRounds = 24;
constexpr int kRuns = 3;

Experiment ExperimentOf(const std::string& model, const std::string& cut, const std::string& precision) {
  const std::string text =
      "schema = 1\n[experiment]\nname = \"bench\"\nrounds = " + std::to_string(kRounds) +
      "\nevaluate-every = 1000\n[model]\nname = \"" + model +
      "\"\n[data]\nset = \"glyphs\"\ntrain-limit = 2048\ntest-limit = 10\n[[fleet.group]]\ncount = " +
      std::to_string(kDevices) +
      "\ncompute = \"1G\"\nuplink = \"1Gbit/s\"\n[train]\nmethod = \"split\"\nbatch = " +
      std::to_string(kBatch) + "\n[split]\ncut = \"" + cut + "\"\nactivations = \"" + precision +
      "\"\ngradients = \"" + precision + "\"\n";
  return ReadExperimentText(text, {"the benchmark", std::nullopt}).value();
}

// Records durations and bytes of rounds.
class Rounds : public EventSink {
 public:
  void Write(const Event& event) override {
    const auto* round = std::get_if<RoundFinished>(&event.what);
    if (round == nullptr || round->round.value <= 4) return;  // warm-up
    seconds.push_back(ToSeconds(round->duration));
    bytes.push_back(static_cast<double>(round->bytes_up.value + round->bytes_down.value));
  }
  std::vector<double> seconds, bytes;
};

// A run in this process, over sockets.
Status RunSplit(const Experiment& experiment, Rounds& rounds) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tributary-bench-split-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::promise<std::string> port;
  ServingOptions serving{.folder = folder, .listen = "127.0.0.1:0", .build = "bench", .watcher = &rounds};
  serving.checkpoints.time = std::chrono::hours(1);
  serving.say = [&](const std::string& text) {
    constexpr std::string_view kListening = "listening on port ";
    if (text.starts_with(kListening)) port.set_value(text.substr(kListening.size()));
  };
  auto served = std::async(std::launch::async, [&] { return Serve(experiment, serving).status(); });
  const std::string join = "127.0.0.1:" + port.get_future().get();
  std::vector<std::thread> devices;
  for (std::size_t i = 0; i < kDevices; ++i) {
    devices.emplace_back([&, i] {
      const auto clock = MakeRealClock();
      DeviceRuntime work({.consent = Consent::Parse({"activations", "labels"}).value()}, *clock);
      (void)RunDevice({.join = join,
                       .name = "device-" + std::to_string(i),
                       .build = "bench",
                       .leave_when_done = true,
                       .seed = i},
                      work);
    });
  }
  for (std::thread& device : devices) device.join();
  const Status status = served.get();
  std::filesystem::remove_all(folder);
  return status;
}

// Steps in one place.
std::vector<double> RunCentral(const Experiment& experiment, const std::shared_ptr<const Model>& model) {
  SetComputeThreads(1);
  FlatBuffer parameters(model->parameters.size), statistics(model->statistics.size),
      gradients(model->parameters.size);
  InitialiseWeights(*model, 1, parameters.span(), statistics.span());
  Executor executor(model, {parameters.span(), statistics.span(), gradients.span()});
  const auto optimiser = MakeOptimiser(experiment.train.optimiser, parameters.size()).value();
  Rng rng(1);
  std::vector<float> inputs(kBatch * static_cast<std::size_t>(model->graph.input_shape().elements()));
  for (float& value : inputs) value = static_cast<float>(Normal(rng));
  const std::vector<std::int32_t> labels(kBatch, 1);
  std::vector<double> seconds;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!executor.Train({inputs, labels}, {.rng = &rng}).ok()) return {};
    optimiser->Step(parameters.span(), gradients.span(), 0.001);
    if (i >= 4)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return seconds;
}

int Compare(const std::string& name, const std::string& cut, const std::string& precision) {
  const Experiment experiment = ExperimentOf(name, cut, precision);
  const TrainTest data = LoadExperimentData(experiment, {}).value();
  const auto whole = BuildNetwork(name, experiment, data.train.shape(), data.train.classes()).value();
  const SplitNetwork network = SplitNetworkAt(experiment, whole);
  Rounds split;
  std::vector<double> central;
  for (int run = 0; run < kRuns; ++run) {
    const std::vector<double> seconds = RunCentral(experiment, whole);
    central.insert(central.end(), seconds.begin(), seconds.end());
    if (const Status status = RunSplit(experiment, split); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return 1;
    }
  }
  const double front = static_cast<double>(network.held->parameters.size * sizeof(float) * 2 * kDevices);
  const double crossing =
      static_cast<double>(network.wire.BytesUp(0, kBatch) + network.wire.Down(0).BytesOf(kBatch));
  const double activations = static_cast<double>(kBatch * network.wire.split_values * sizeof(float));
  const double step = Median(split.seconds), bytes = Median(split.bytes);
  std::printf("%s cut after %s, %s: a step of %zu devices %.1f ms, in one place %.1f ms, ratio %.2f\n",
              name.c_str(), cut.c_str(), precision.c_str(), kDevices, 1e3 * step, 1e3 * Median(central),
              step / Median(central));
  std::printf(
      "  %.2f MB a step on the wire: %.3f of what must travel, %.2f times the activations as floats (%.2f "
      "MB); the"
      " front's weights are %.2f MB of it\n",
      bytes / 1e6, bytes / (front + crossing), bytes / activations, activations / 1e6, front / 1e6);
  return 0;
}

}  // namespace
}  // namespace tributary

int main() {
  int failed = 0;
  for (const char* precision : {"fp32", "fp16", "int8"}) {
    failed |= tributary::Compare("resnet8", "layer1.0.relu", precision);
  }
  return failed | tributary::Compare("cnn", "pool1", "fp32");
}
