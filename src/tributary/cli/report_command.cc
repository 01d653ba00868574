#include <optional>

#include "tributary/base/clock.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/run_lists.h"
#include "tributary/cli/run_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/dashboard/report.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace report_command {

struct Arguments {
  std::string run;
  std::string store;
  std::string out;
  bool json = false;
};

// Shows progress, since logs of long runs have gigabytes.
StatusOr<Board> Read(const std::filesystem::path& folder) {
  const auto clock = MakeRealClock();
  std::optional<Progress> progress;
  return ReadBoard(folder, [&](std::uint64_t done, std::uint64_t all) {
    if (!progress)
      progress.emplace(*clock, stderr, Progress::Options{.style = ProgressStyleFor(stderr), .total = all});
    progress->Update(done, FormatBytes({static_cast<std::int64_t>(done)}) + " of the event log");
  });
}

Status Report(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::filesystem::path folder,
                             FindRunFolder(arguments.store, arguments.run));
  TRIBUTARY_ASSIGN_OR_RETURN(const Board board, Read(folder));
  if (arguments.json) {
    Say("{}\n", BoardJson(board));
    if (arguments.out.empty()) return OkStatus();
  }
  const std::filesystem::path path =
      arguments.out.empty() ? folder / "report.html" : std::filesystem::path(arguments.out);
  TRIBUTARY_RETURN_IF_ERROR(WriteReport(path, board));
  Say(arguments.json ? stderr : stdout, "wrote {}; open it in a browser\n", path.c_str());
  return OkStatus();
}

}  // namespace report_command

void AddReportCommand(CLI::App& app, Action& action) {
  using namespace report_command;
  auto [command, a] =
      AddCommand(app, action, Report, "report", "Write a run as an HTML file: curves, fleet, time and bytes");
  AddOption(command, "run", a.run, "The run, finished or not: folder, number, name, start of a name, or last")
      ->required();
  AddOption(command, "--out FILE.html", a.out, "The file; by default report.html in the run's folder");
  AddStoreOption(command, a.store);
  AddJsonFlag(command, a.json);
  command.footer(
      "The file is self-contained and loads nothing from elsewhere.\n"
      "Examples:\n"
      "  tributary report last\n"
      "  tributary report runs/default-1 --out report.html");
}

}  // namespace tributary::inline cli
