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
  std::filesystem::path data_dir;  // for data sets that are read from files
  std::size_t threads = 1;         // for the coordinator's test set
  std::filesystem::path folder;    // the run's
  bool resume = false;             // go on with the run in that folder
  CheckpointerOptions checkpoints;
  std::string listen = ":7070";
  std::optional<Credentials> credentials;  // without them anybody may join
  std::filesystem::path revoked;           // the authority's revocation list; empty for none
  std::string build;
  std::optional<std::size_t> wait_for;  // devices before the first round; without it all of the experiment's
  Duration grace = std::chrono::seconds(10);
  std::uint64_t incarnation = 0;  // random per process
  EventSink* watcher = nullptr;
  std::function<bool()> should_stop;
  // Handed a way to look at what devices do now (as Board::SetState has it), from any thread, while the run lasts; and
  // nullptr before it ends.
  std::function<void(std::function<std::vector<std::string>()>)> states = [](auto) {};
  std::function<void(const std::string&)> say = [](const std::string&) {};  // for people
};

// Runs an experiment on real devices that dial in: the counterpart of Simulate. Killed at any moment, it goes on with
// `resume`. What has a meaning in simulation only is refused.
StatusOr<FinishedRun> Serve(const Experiment& experiment, const ServingOptions& options);

}  // namespace tributary::inline coordinator
