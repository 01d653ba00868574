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
  std::filesystem::path data_dir;          // for data sets in files
  std::size_t threads = 1;                 // results do not depend on it
  TorchDevice device = TorchDevice::kCpu;  // where passes run; affects the last bits of results
  // The run folder: experiment.toml (as run), facts.json, events.jsonl, rounds.csv, summary.json and
  // weights.safetensors. It must not exist. Without it nothing is written.
  std::optional<std::filesystem::path> folder;
  EventSink* watcher = nullptr;  // receives every event as it happens
  std::function<bool()> should_stop;
};

// Runs an experiment on a simulated fleet: builds the network, distributes the data, draws the devices and
// runs a Coordinator. Fails if the machine or the data cannot provide what the experiment asks for.
StatusOr<FinishedRun> Simulate(const Experiment& experiment, const SimulationOptions& options);

}  // namespace tributary::inline coordinator
