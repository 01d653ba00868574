#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/dashboard/shared_board.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

// --dashboard, with or without an address.
void AddDashboardOption(CLI::App& command, std::optional<std::string>& address);

class DashboardServer;

// A run as a page: served to browsers while it lasts, if that is wanted, and left in its folder at the end.
class LivePage {
 public:
  // Says where it is served. `metrics` is what it serves to Prometheus.
  static StatusOr<std::unique_ptr<LivePage>> Start(const std::optional<std::string>& address,
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
  std::mutex mutex_;
  std::function<std::vector<std::string>()> states_;
  std::unique_ptr<DashboardServer> server_;
};

}  // namespace tributary
