#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tributary/dashboard/shared_board.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

struct WatchingOptions {
  std::optional<std::string> dashboard;  // where to serve it
};
void AddWatchingOptions(CLI::App& command, WatchingOptions& options);

class DashboardServer;

// What shows a run beside the terminal: the dashboard, if it is wanted, and the report in its folder at the end.
class Watching {
 public:
  // Says where the dashboard is.
  static StatusOr<std::unique_ptr<Watching>> Start(const WatchingOptions& options, std::FILE* out);
  ~Watching();

  EventSink& sink() { return board_; }
  // What a real fleet's devices do now; nullptr when it is gone.
  void SetStates(std::function<std::vector<std::string>()> states);
  // Leaves report.html in the run's folder, and says so. Nothing in a program without the page.
  void Report(const std::filesystem::path& folder, std::FILE* out) const;

 private:
  Watching() = default;
  std::vector<std::string> States();

  SharedBoard board_;
  std::mutex mutex_;
  std::function<std::vector<std::string>()> states_;
  std::unique_ptr<DashboardServer> server_;
};

}  // namespace tributary
