#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "tributary/base/names.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/shared_options.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/reproduce/harness.h"
#include "tributary/reproduce/report.h"
#include "tributary/reproduce/study.h"
#include "tributary/reproduce/summary.h"

namespace tributary::inline cli {
namespace reproduce_command {

struct Arguments {
  std::string name;
  bool full = false;
  bool quick = false;
  std::optional<std::uint64_t> seeds;
  std::string shard;
  std::vector<std::filesystem::path> merge;
  std::filesystem::path out;
  std::filesystem::path data_dir;
  int threads = 1;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;
};

Status ListAll(bool json) {
  TextTable table({"name", "what it shows"});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StudyEntry& study : ListStudies()) {
    table.AddRow({study.name, study.about});
    list.push_back({{"name", study.name}, {"about", study.about}});
  }
  return PrintList(json, list, table);
}

void PrintProgress(const HarnessProgress& progress) {
  const char* what = progress.event == HarnessProgress::Event::kReused    ? "kept from before"
                     : progress.event == HarnessProgress::Event::kStarted ? "running"
                                                                          : "done";
  Say(stderr, "{}/{}  {}, seed {}: {}", progress.done, progress.total, progress.arm, progress.seed, what);
  if (progress.left) Say(stderr, ", {} left", FormatDuration(*progress.left));
  Say(stderr, "\n");
}

// Parses "2/3".
StatusOr<Shard> ParseShard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    if (count.ec == std::errc() && count.ptr == end && shard.index >= 1 && shard.index <= shard.count)
      return shard;
  }
  return InvalidArgument("--shard is '" + text + "'; allowed: I/N with I from 1 to N, like 2/3");
}

Status Run(Arguments arguments) {
  if (arguments.name.empty()) return ListAll(arguments.json);
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Study study,
      MakeStudy(arguments.name, arguments.full ? Effort::kFull : Effort::kQuick, arguments.data_dir));
  HarnessOptions options;
  options.out = arguments.out.empty() ? std::filesystem::path("reproductions") /
                                            (study.reproduction.name + (arguments.full ? "-full" : "-quick"))
                                      : arguments.out;
  options.seeds = study.seeds;
  if (arguments.seeds) {
    options.seeds.clear();
    for (std::uint64_t seed = 1; seed <= *arguments.seeds; ++seed) options.seeds.push_back(seed);
  }
  if (!arguments.shard.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(options.shard, ParseShard(arguments.shard));
  }
  options.merge = arguments.merge;
  // One run per thread; spare threads serve the devices within a run.
  const auto threads = static_cast<std::size_t>(arguments.threads);
  const std::size_t runs = study.reproduction.arms.size() * options.seeds.size() / options.shard.count;
  options.threads = study.runner ? 1 : std::clamp<std::size_t>(runs, 1, threads);
  const InterruptGuard interrupt;
  options.should_stop = [&] { return interrupt.interrupted(); };
  if (!arguments.quiet) {
    options.progress = PrintProgress;
    options.notice = [](const std::string& text) { Say(stderr, "{}\n", text); };
  }
  const auto clock = MakeRealClock();
  SimulationOptions simulation;
  simulation.data_dir = arguments.data_dir;
  simulation.threads = threads / options.threads;
  TRIBUTARY_ASSIGN_OR_RETURN(simulation.device, FindTorchDevice(arguments.device));
  simulation.should_stop = options.should_stop;
  TRIBUTARY_ASSIGN_OR_RETURN(
      const HarnessOutcome outcome,
      RunReproduction(study.reproduction, options, *clock, RunnerOf(study, simulation)));
  if (outcome.results.empty()) {
    Say(stderr, "stopped before the first run was finished\n");
    return OkStatus();
  }
  if (options.shard.count > 1 && !outcome.stopped) {
    Say(stderr, "shard {} is done: {} runs in {}; --merge the folders of all shards\n", arguments.shard,
        outcome.results.size(), options.out.c_str());
    return OkStatus();
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteReport(study.reproduction, outcome.results, options.out));
  const ReproductionSummary summary = Summarise(study.reproduction, outcome.results);
  if (arguments.json) {
    std::fputs(FormatJsonReport(study.reproduction, summary).c_str(), stdout);
  } else {
    std::fputs(FormatTextReport(study.reproduction, summary).c_str(), stdout);
    Say("\ntable, JSON and picture in {}\n", options.out.c_str());
  }
  if (outcome.stopped) {
    Say(stderr, "stopped after {} of {} runs; the same command continues\n", outcome.results.size(),
        outcome.total);
  }
  return OkStatus();
}

}  // namespace reproduce_command

void AddReproduceCommand(CLI::App& app, Action& action) {
  using namespace reproduce_command;
  auto [command, a] = AddCommand(app, action, Run, "reproduce",
                                 "Run a published comparison: arms, seeds, spread, table and picture");
  AddOption(command, "name", a.name, "A study, or a study file FILE.toml; by default all are listed");
  CLI::Option* quick =
      command.add_flag("--quick", a.quick, "At most twenty minutes on two cores (the default)");
  command.add_flag("--full", a.full, "Larger and longer, as in the documents")->excludes(quick);
  AddOption(command, "--seeds", a.seeds, "Run with seeds 1 … N")->check(CLI::Range(1, 1000));
  AddOption(command, "--out DIR", a.out, "Folder for results; without it reproductions/NAME-quick or -full");
  CLI::Option* shard = AddOption(command, "--shard I/N", a.shard, "Run only the I-th of N parts of the runs");
  AddOption(command, "--merge DIR", a.merge, "Make the table from the folders of all shards, without runs")
      ->expected(1, 1000)
      ->excludes(shard);
  AddDataDirOption(command, a.data_dir);
  AddThreadsOption(command, a.threads);
  AddTorchDeviceOption(command, a.device);
  AddJsonFlag(command, a.json);
  command.add_flag("--quiet", a.quiet, "Print the result only");
  command.footer(
      "Finished runs are kept: after Ctrl-C the same command continues. --threads: parallel runs.\n"
      "Examples:\n  tributary reproduce heterogeneity --seeds 3\n"
      "  tributary reproduce mine.toml --shard 1/2 --out a\n"
      "  tributary reproduce mine.toml --merge a b");
}

}  // namespace tributary::inline cli
