#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/coordinator/finished_run.h"
#include "tributary/coordinator/run_folder.h"
#include "tributary/experiment/experiment.h"
#include "tributary/keys/credentials.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {

struct ServingOptions {
  std::filesystem::path data_dir;  // for data sets in files
  std::size_t threads = 1;         // for evaluation on the test set
  std::filesystem::path folder;    // of the run
  bool resume = false;             // continue the run in that folder
  CheckpointerOptions checkpoints;
  std::string listen = ":7070";
  std::optional<Credentials> credentials;  // without credentials anyone may join
  std::filesystem::path revoked;           // revocation list of the authority; empty for none
  std::string build;
  std::optional<std::size_t> wait_for;  // devices before the first round; by default all of the experiment
  Duration grace = std::chrono::seconds(10);
  std::uint64_t incarnation = 0;  // random per process
  EventSink* watcher = nullptr;
  std::function<bool()> should_stop;
  // Receives a function with the devices' current states (as for Board::SetState), callable from any thread
  // during the run, and nullptr before the run ends.
  std::function<void(std::function<std::vector<std::string>()>)> states = [](auto) {};
  std::function<void(const std::string&)> say = [](const std::string&) {};  // messages for people
};

// Runs an experiment on real devices that connect; the counterpart of Simulate. Can be killed at any time and
// continued with `resume`. Refuses options that are only valid in simulation.
StatusOr<FinishedRun> Serve(const Experiment& experiment, const ServingOptions& options);

}  // namespace tributary::inline coordinator
