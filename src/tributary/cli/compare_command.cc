#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/run_lists.h"
#include "tributary/cli/run_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/store/comparison.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace compare_command {

struct Arguments {
  std::vector<std::string> runs;
  std::string store;
  std::optional<double> target;
  std::string plot;
  bool json = false;
};

std::string Times(std::optional<double> ratio) { return ratio ? fmt::format("{:.2f}×", *ratio) : "–"; }

void PrintComparison(const Comparison& comparison) {
  Say("target: accuracy {}\n\n", FormatShare(comparison.target));
  TextTable table({"run", "method", "time to target", "sooner", "rounds", "bytes", "fewer", "final accuracy",
                   "waiting", "total time", "total bytes"},
                  TextTable::Right::kAllButFirst);
  for (const ComparedRun& compared : comparison.runs) {
    const RunRecord& run = compared.run;
    const auto& reached = compared.reached;
    table.AddRow(
        {Printable(run.name), Printable(run.what.method), reached ? FormatDuration(reached->time) : "never",
         Times(compared.sooner), reached ? std::to_string(reached->round.value) : "–",
         reached ? FormatBytes(reached->bytes) : "–", Times(compared.fewer_bytes), FormatShare(run.accuracy),
         FormatShare(run.waiting_share()), FormatDuration(run.time), FormatBytes(run.down + run.up)});
  }
  std::fputs(table.Format().c_str(), stdout);
}

Status Run(const Arguments& arguments) {
  if (arguments.target && !(*arguments.target > 0 && *arguments.target <= 1)) {
    return InvalidArgument("--target is an accuracy above 0 and at most 1, e.g. 0.8 for 80 %");
  }
  std::vector<RunHistory> runs;
  for (const std::string& named : arguments.runs) {
    TRIBUTARY_ASSIGN_OR_RETURN(runs.emplace_back(), FindRun(arguments.store, named));
  }
  std::optional<double> target = arguments.target;
  if (!target) target = CommonTarget(runs);
  if (!target) {
    for (const RunHistory& history : runs) {
      if (history.evaluations.empty()) {
        return InvalidArgument("the run " + history.run.name +
                               " was never evaluated: there is nothing to compare yet");
      }
    }
  }
  const Comparison comparison = Compare(runs, target.value_or(0));
  if (!arguments.plot.empty()) {
    TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.plot, DrawComparison(runs, comparison.target)));
  }
  if (arguments.json) return PrintJson(ComparisonJson(comparison));
  PrintComparison(comparison);
  if (!arguments.plot.empty()) Say("\npicture {}\n", arguments.plot);
  return OkStatus();
}

}  // namespace compare_command

void AddCompareCommand(CLI::App& app, Action& action) {
  using namespace compare_command;
  auto [command, a] =
      AddCommand(app, action, Run, "compare", "Compare runs: time, rounds and bytes to an accuracy");
  AddOption(command, "run", a.runs, "Runs: number, name, start of a name, folder, or last")
      ->required()
      ->expected(1, 100);
  AddOption(command, "--target", a.target,
            "Accuracy to compare at, e.g. 0.8; by default the highest whole percent that all runs reached");
  AddOption(command, "--plot FILE.svg", a.plot, "Write a plot of accuracy over time");
  AddStoreOption(command, a.store);
  AddJsonFlag(command, a.json);
  command.footer(
      "Ratios are against the first run: 2.00× is twice as fast, or half the bytes.\n"
      "Example:\n"
      "  tributary compare default-1 last --target 0.8 --plot both.svg");
}

}  // namespace tributary::inline cli
