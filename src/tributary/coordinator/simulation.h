#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "tributary/base/status.h"
#include "tributary/coordinator/finished_run.h"
#include "tributary/engine/torch_device.h"
#include "tributary/experiment/experiment.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {

struct SimulationOptions {
  std::filesystem::path data_dir;          // for data sets that are read from files
  std::size_t threads = 1;                 // results do not depend on it
  TorchDevice device = TorchDevice::kCpu;  // what passes run on; the last bits of results do depend on it
  // Where the run leaves its folder: experiment.toml (as run), facts.json, events.jsonl, rounds.csv, summary.json and
  // weights.safetensors. It must not exist yet. Without it nothing is written.
  std::optional<std::filesystem::path> folder;
  EventSink* watcher = nullptr;  // sees every event as it happens
  std::function<bool()> should_stop;
};

// Runs an experiment on a simulated fleet: builds the network, deals out the data, draws the devices, and lets a
// Coordinator run. Everything that the experiment asks for and this machine or its data cannot give is an error.
StatusOr<FinishedRun> Simulate(const Experiment& experiment, const SimulationOptions& options);

}  // namespace tributary::inline coordinator
