#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "tributary/base/status.h"
#include "tributary/cli/live_page.h"
#include "tributary/coordinator/finished_run.h"
#include "tributary/experiment/experiment.h"
#include "tributary/store/store_sink.h"
#include "tributary/telemetry/metrics_file.h"
#include "tributary/telemetry/prometheus.h"
#include "tributary/telemetry/sink.h"
#include "tributary/telemetry/tensorboard_sink.h"

namespace tributary {

// Where a run is watched from beside the terminal: the same flags for all that run experiments.
struct WatchOptions {
  std::string store;  // Empty: the usual place.
  bool no_store = false;
  std::string tensorboard;
  std::string metrics_file;
  std::optional<std::string> dashboard;  // where to serve it
};
void AddWatchOptions(CLI::App& command, WatchOptions& options);

// --store, from the environment variable TRIBUTARY_STORE when not given.
CLI::Option* AddStoreOption(CLI::App& command, std::string& store);
// The file that was named, or that of runs without --store: runs/runs.sqlite.
std::filesystem::path StorePath(const std::string& named);

// --tensorboard.
void AddTensorBoardOption(CLI::App& command, std::string& folder);
// A folder for `name` in it that no other run has, for TensorBoard takes each for a run.
std::filesystem::path FreeTensorBoardFolder(const std::filesystem::path& folder, const std::string& name);

// All that watches one run, in one sink. What was asked for and cannot be had is an error before the run begins; without
// the usual store, or with one that fails later, the run goes on, and Close says so on standard error.
class Watchers {
 public:
  // `view` must outlive it. Says on `out` where the dashboard is.
  static StatusOr<std::unique_ptr<Watchers>> Open(const WatchOptions& options, const Experiment& experiment,
                                                  const std::filesystem::path& folder, bool simulated,
                                                  bool resumed, EventSink& view, std::FILE* out);
  ~Watchers();
  EventSink& sink() { return *sink_; }
  LivePage& page() { return *page_; }
  void Close(const FinishedRun& result);
  // As LivePage::Report.
  void Report(const std::filesystem::path& folder, std::FILE* out) const { page_->Report(folder, out); }

 private:
  Watchers();

  class LateStore;
  std::unique_ptr<LateStore> store_;
  std::unique_ptr<TensorBoardSink> tensorboard_;
  std::unique_ptr<MetricsFile> metrics_;
  PrometheusSink served_;  // by the dashboard
  std::unique_ptr<LivePage> page_;
  std::unique_ptr<TeeSink> sink_;
};

}  // namespace tributary
