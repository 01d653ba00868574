#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/finished_run.h"
#include "tributary/dashboard/shared_board.h"
#include "tributary/experiment/experiment.h"
#include "tributary/store/store_sink.h"
#include "tributary/telemetry/live_view.h"
#include "tributary/telemetry/prometheus.h"
#include "tributary/telemetry/sink.h"
#include "tributary/telemetry/tensorboard_sink.h"

namespace tributary::inline dashboard {
class DashboardServer;
}

namespace tributary::inline cli {

// What all commands that run experiments take and print.
struct CommonRunOptions {
  std::vector<std::string> set;  // KEY=VALUE
  std::optional<std::uint64_t> seed;
  std::string out;

  // Changes to the experiment, --seed among them.
  std::vector<std::string> Overrides() const;
};
// --set and --seed.
void AddOverrideOptions(CLI::App& command, CommonRunOptions& options);
// --out.
void AddOutOption(CLI::App& command, CommonRunOptions& options);

// --out, or without it runs/NAME-SEED, with a number behind it where that exists already.
std::filesystem::path FolderOf(const CommonRunOptions& options, const Goal& goal);

// A table's heading and its row, with the totals of devices (kDeviceTimes, kDeviceBytes) behind what is there.
std::vector<std::string> WithTotals(std::vector<std::string> heading);
std::vector<std::string> WithTotals(std::vector<std::string> row, const DeviceFinished& sums);

// Where each device's time and bytes went, as a table; by group where there are many.
void PrintDevices(const FinishedRun& result);

// A run as a page: served to browsers while it lasts, if that is wanted, and left in its folder at the end.
class LivePage {
 public:
  // Says where it is served; with the token only on a terminal, because logs are read by others. The token is that of the
  // file, or without a file a new one. `metrics` is what it serves to Prometheus.
  static StatusOr<std::unique_ptr<LivePage>> Start(const std::optional<std::string>& address,
                                                   const std::string& token_file,
                                                   std::function<std::string()> metrics, std::FILE* out);
  ~LivePage();

  EventSink& sink() { return board_; }
  // What a real fleet's devices do now; nullptr when it is gone.
  void SetStates(std::function<std::vector<std::string>()> states);
  // Leaves report.html in the run's folder, and says so. Nothing in a program without the page.
  void Report(const std::filesystem::path& folder, std::FILE* out) const;

 private:
  LivePage() = default;
  std::vector<std::string> States();

  SharedBoard board_;
  Mutex mutex_;
  std::function<std::vector<std::string>()> states_ TRIBUTARY_GUARDED_BY(mutex_);
  std::unique_ptr<DashboardServer> server_;
};

// Where a run is watched from: the same flags for all that run experiments.
struct WatchOptions {
  std::string store;  // Empty: the usual place.
  bool no_store = false;
  std::string tensorboard;
  std::string metrics_file;
  std::optional<std::string> dashboard;  // where to serve it
  std::string dashboard_token;           // the file with the token; empty for a new token
  bool json = false;                     // standard output is for the result
  bool quiet = false;                    // nothing is shown before it
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

// All that watches one run, in one sink: a view for people and what else was asked for. What was asked for and cannot be
// had is an error before the run begins; without the usual store, or with one that fails later, the run goes on, and
// Close says so on standard error.
class Watchers {
 public:
  // Says on out() where the dashboard is.
  static StatusOr<std::unique_ptr<Watchers>> Open(const WatchOptions& options, const Experiment& experiment,
                                                  const std::filesystem::path& folder, bool simulated,
                                                  bool resumed);
  ~Watchers();
  EventSink& sink() { return *sink_; }
  LivePage& page() { return *page_; }
  // What people are told while the run lasts goes here.
  std::FILE* out() const { return out_; }
  // Since it was opened.
  const Clock& clock() const { return *clock_; }
  void Close(const FinishedRun& result);
  // As LivePage::Report.
  void Report(const std::filesystem::path& folder, std::FILE* out) const { page_->Report(folder, out); }

 private:
  explicit Watchers(const WatchOptions& options);

  std::FILE* const out_;
  const std::unique_ptr<Clock> clock_;
  LiveView view_;
  class LateStore;
  std::unique_ptr<LateStore> store_;
  std::unique_ptr<TensorBoardSink> tensorboard_;
  std::unique_ptr<MetricsFile> metrics_;
  PrometheusSink served_;  // by the dashboard
  std::unique_ptr<LivePage> page_;
  std::unique_ptr<TeeSink> sink_;
};

}  // namespace tributary::inline cli
