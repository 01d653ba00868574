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
#include "tributary/dashboard/dashboard_tls.h"
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

// Options of all commands that run experiments.
struct CommonRunOptions {
  std::vector<std::string> set;  // KEY=VALUE
  std::optional<std::uint64_t> seed;
  std::string out;

  // Changes to the experiment, including --seed.
  std::vector<std::string> Overrides() const;
};
// --set and --seed.
void AddOverrideOptions(CLI::App& command, CommonRunOptions& options);
void AddOutOption(CLI::App& command, CommonRunOptions& options);

// --out, by default runs/NAME-SEED, with a number appended if that exists.
std::filesystem::path FolderOf(const CommonRunOptions& options, const Goal& goal);

// A heading or row, followed by totals of devices (kDeviceTimes, kDeviceBytes).
std::vector<std::string> WithTotals(std::vector<std::string> heading);
std::vector<std::string> WithTotals(std::vector<std::string> row, const DeviceFinished& sums);

// A table of each device's time and bytes; per group if there are many devices.
void PrintDevices(const FinishedRun& result);

// A run as a page: optionally served to browsers during the run, and written to its folder at the end.
class LivePage {
 public:
  // Prints the address; adds the token only on a terminal, because others may read logs. The token is read
  // from `token_file`; without a file, it is new. `metrics` is served to Prometheus.
  static StatusOr<std::unique_ptr<LivePage>> Start(const std::optional<std::string>& address,
                                                   const std::string& token_file,
                                                   std::optional<DashboardTls> tls,
                                                   std::function<std::string()> metrics, std::FILE* out);
  ~LivePage();
  EventSink& sink() { return board_; }
  // Current states of a real fleet's devices; nullptr when the fleet is gone.
  void SetStates(std::function<std::vector<std::string>()> states);
  // Writes report.html to the run's folder and prints its path. Does nothing in a program without the page.
  void Report(const std::filesystem::path& folder, std::FILE* out) const;

 private:
  LivePage() = default;
  std::vector<std::string> States();

  SharedBoard board_;
  Mutex mutex_;
  std::function<std::vector<std::string>()> states_ TRIBUTARY_GUARDED_BY(mutex_);
  std::unique_ptr<DashboardServer> server_;
};

// Outputs of a run; the same flags for all commands that run experiments.
struct WatchOptions {
  std::string store;  // empty: default path
  bool no_store = false;
  std::string tensorboard;
  std::string metrics_file;
  std::optional<std::string> dashboard;       // address to serve at
  std::string dashboard_token;                // file with the token; empty: a new token
  std::optional<DashboardTls> dashboard_tls;  // not one of AddWatchOptions
  bool json = false;                          // standard output is for the JSON result
  bool quiet = false;                         // print the result only
};
void AddWatchOptions(CLI::App& command, WatchOptions& options);

// --store, with the environment variable TRIBUTARY_STORE as default.
CLI::Option* AddStoreOption(CLI::App& command, std::string& store);
// The given file, by default runs/runs.sqlite.
std::filesystem::path StorePath(const std::string& named);

void AddTensorBoardOption(CLI::App& command, std::string& folder);
// A subfolder `name` that does not exist yet, since TensorBoard takes each folder as a run.
std::filesystem::path FreeTensorBoardFolder(const std::filesystem::path& folder, const std::string& name);

// All outputs of one run as one sink. A requested output that cannot be opened is an error before the run; if
// the default store is missing or an output fails later, the run continues and Close reports it.
class Watchers {
 public:
  // Prints the dashboard's address on out().
  static StatusOr<std::unique_ptr<Watchers>> Open(const WatchOptions& options, const Experiment& experiment,
                                                  const std::filesystem::path& folder, bool simulated,
                                                  bool resumed);
  ~Watchers();
  EventSink& sink() { return *sink_; }
  LivePage& page() { return *page_; }
  // Stream for messages during the run.
  std::FILE* out() const { return out_; }
  // Time since Open.
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
  PrometheusSink served_;  // for the dashboard
  std::unique_ptr<LivePage> page_;
  std::unique_ptr<TeeSink> sink_;
};

}  // namespace tributary::inline cli
