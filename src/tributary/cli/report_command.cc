#include <cstdio>

#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/dashboard/report.h"

namespace tributary {
namespace {

struct Arguments {
  std::string folder;
  std::string out;
  bool json = false;
};

Status Report(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Board board, ReadBoard(arguments.folder));
  if (arguments.json) {
    std::printf("%s\n", BoardJson(board).c_str());
    if (arguments.out.empty()) return OkStatus();
  }
  const std::filesystem::path path =
      arguments.out.empty() ? std::filesystem::path(arguments.folder) / "report.html" : std::filesystem::path(arguments.out);
  TRIBUTARY_RETURN_IF_ERROR(WriteReport(path, board));
  std::fprintf(arguments.json ? stderr : stdout, "wrote %s; open it in a browser\n", path.c_str());
  return OkStatus();
}

}  // namespace

void AddReportCommand(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("report", "Show a run as one file for a browser: curves, fleet, where time and bytes went");
  command->add_option("run", arguments->folder, "The run's folder, finished or not")->type_name("DIR")->required();
  command->add_option("--out", arguments->out, "The file; without it report.html in the run's folder")->type_name("FILE.html");
  AddJsonFlag(*command, arguments->json);
  command->footer(
      "The file needs nothing else, and asks nobody for anything: send it to whom you like.\n"
      "Example:\n"
      "  tributary report runs/default-1 --out report.html");
  command->callback([arguments, &action] { action = [arguments] { return Report(*arguments); }; });
}

}  // namespace tributary
