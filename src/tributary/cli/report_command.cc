#include <cstdio>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/run_lists.h"
#include "tributary/cli/shared_options.h"
#include "tributary/cli/watch_options.h"
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

// The log of a long run with many devices has gigabytes.
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
    std::printf("%s\n", BoardJson(board).c_str());
    if (arguments.out.empty()) return OkStatus();
  }
  const std::filesystem::path path =
      arguments.out.empty() ? folder / "report.html" : std::filesystem::path(arguments.out);
  TRIBUTARY_RETURN_IF_ERROR(WriteReport(path, board));
  std::fprintf(arguments.json ? stderr : stdout, "wrote %s; open it in a browser\n", path.c_str());
  return OkStatus();
}

}  // namespace report_command

void AddReportCommand(CLI::App& app, Action& action) {
  using namespace report_command;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "report", "Show a run as one file for a browser: curves, fleet, where time and bytes went");
  command
      ->add_option("run", arguments->run,
                   "The run, finished or not: its folder, number, name, beginning of a name, or last")
      ->required();
  command->add_option("--out", arguments->out, "The file; without it report.html in the run's folder")
      ->type_name("FILE.html");
  AddStoreOption(*command, arguments->store);
  AddJsonFlag(*command, arguments->json);
  command->footer(
      "The file is self-contained and loads nothing from elsewhere.\n"
      "Examples:\n"
      "  tributary report last\n"
      "  tributary report runs/default-1 --out report.html");
  command->callback([arguments, &action] { action = [arguments] { return Report(*arguments); }; });
}

}  // namespace tributary::inline cli
