#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/run_lists.h"
#include "tributary/cli/run_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/store/run_store.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace runs_command {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string store;
  std::size_t limit = 30;
  std::string run;
  std::vector<std::string> folders;
  bool json = false;
};

std::string RoundsText(const RunRecord& run) {
  const std::string planned = run.what.rounds > 0 ? "/" + std::to_string(run.what.rounds) : "";
  return std::to_string(run.rounds) + planned;
}

Status ListRuns(const Arguments& arguments) {
  auto store = RunStore::Open(StorePath(arguments.store));
  if (!store.ok() && store.status().code() == StatusCode::kNotFound) {
    if (arguments.json) return PrintJson(Json::array());
    Say("{}\n'tributary run' and 'tributary coordinator' record runs; 'tributary runs import' adds old "
        "ones.\n",
        store.status().message());
    return OkStatus();
  }
  if (!store.ok()) return std::move(store).status();
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, (*store)->Runs(arguments.limit));
  if (arguments.json) {
    Json all = Json::array();
    for (const RunRecord& run : runs) all.push_back(RunJson(run));
    return PrintJson(all);
  }
  TextTable table({"id", "name", "method", "model", "data", "devices", "rounds", "accuracy", "time", "bytes",
                   "when", "state"});
  for (const RunRecord& run : runs) {
    table.AddRow({std::to_string(run.id), Printable(run.name), Printable(run.what.method),
                  Printable(run.what.model), Printable(run.what.data), std::to_string(run.what.devices),
                  RoundsText(run), FormatShare(run.accuracy), FormatDuration(run.time),
                  FormatBytes(run.down + run.up), FormatLocalTime(run.started),
                  std::string(NameOf(run.state))});
  }
  std::fputs(table.Format().c_str(), stdout);
  return OkStatus();
}

Json RangeJson(const std::optional<ValueRange>& range) {
  return range ? Json{{"mean", range->mean}, {"low", range->low}, {"high", range->high}} : Json(nullptr);
}

Status ShowJson(RunStore& store, const RunRecord& run) {
  constexpr std::size_t kPoints = 500;
  Json json = RunJson(run);
  TRIBUTARY_ASSIGN_OR_RETURN(json["experiment_toml"], store.Experiment(run.id));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto rounds, store.Rounds(run.id, kPoints));
  json["round_points"] = Json::array();
  for (const RoundPoint& point : rounds) {
    json["round_points"].push_back({{"first", point.first.value},
                                    {"last", point.last.value},
                                    {"seconds", ToSeconds(point.end)},
                                    {"duration", ToSeconds(point.duration)},
                                    {"applied", point.applied},
                                    {"late", point.late},
                                    {"lost", point.lost},
                                    {"refused", point.refused},
                                    {"crashed", point.crashed},
                                    {"bytes_down", point.down.value},
                                    {"bytes_up", point.up.value},
                                    {"buffered", point.buffered},
                                    {"train_loss", RangeJson(point.train_loss)},
                                    {"overlap", RangeJson(point.overlap)},
                                    {"waiting", RangeJson(point.waiting)},
                                    {"kept", RangeJson(point.kept)}});
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const auto evaluations, store.Evaluations(run.id, kPoints));
  json["evaluations"] = Json::array();
  for (const EvaluationRecord& record : evaluations) {
    json["evaluations"].push_back(
        {{"round", record.evaluated.round.value},
         {"where", record.evaluated.where == EvaluatedWhere::kCentral ? "central" : "devices"},
         {"seconds", ToSeconds(record.time)},
         {"accuracy", record.evaluated.accuracy},
         {"loss", record.evaluated.loss},
         {"bytes_down", record.down.value},
         {"bytes_up", record.up.value}});
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const auto devices, store.Devices(run.id));
  json["fleet"] = Json::array();
  for (const DeviceRecord& device : devices) {
    Json& row = json["fleet"].emplace_back(Json{{"device", device.device.value},
                                                {"group", device.group},
                                                {"applied", device.applied},
                                                {"missed", device.missed}});
    PutDeviceTotals(device, [&](const std::string& key, auto value) { row[key] = value; });
    if (device.trained_share) row["kept"] = *device.trained_share;
    if (device.stream_rate) row["stream_rate"] = *device.stream_rate;
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const auto notes, store.Notes(run.id));
  json["notes"] = Json::array();
  for (const NoteRecord& note : notes)
    json["notes"].push_back({{"seconds", ToSeconds(note.time)}, {"text", note.text}});
  return PrintJson(json);
}

Status PrintFleet(RunStore& store, std::int64_t run) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto devices, store.Devices(run));
  constexpr std::size_t kMostRows = 32;
  TextTable table(WithTotals({"device", "group", "applied", "missed"}));
  for (const DeviceRecord& device : std::span(devices).first(std::min(devices.size(), kMostRows))) {
    table.AddRow(WithTotals({std::to_string(device.device.value), Printable(device.group),
                             std::to_string(device.applied), std::to_string(device.missed)},
                            device));
  }
  Say("\n{}", table.Format());
  if (devices.size() > kMostRows) Say("and {} more; --json has all\n", devices.size() - kMostRows);
  return OkStatus();
}

Status ShowRun(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto store, RunStore::Open(StorePath(arguments.store)));
  TRIBUTARY_ASSIGN_OR_RETURN(const RunRecord run, store->Find(arguments.run));
  if (arguments.json) return ShowJson(*store, run);
  Say("run {}, {}: {} of {} on {}, {} devices, {} parameters, seed {}\n", run.id, Printable(run.name),
      Printable(run.what.method), Printable(run.what.model), Printable(run.what.data), run.what.devices,
      FormatCount(static_cast<double>(run.what.parameters)), run.what.seed);
  Say("{}, begun {}, round {} after {}{}\n", NameOf(run.state), FormatLocalTime(run.started), RoundsText(run),
      FormatDuration(run.time), run.simulated ? " of virtual time" : "");
  Say("accuracy {} (best {}), {} down and {} up, {} of the devices' time spent waiting\n",
      FormatShare(run.accuracy), FormatShare(run.best_accuracy), FormatBytes(run.down), FormatBytes(run.up),
      FormatShare(run.waiting_share()));
  if (!run.folder.empty()) Say("folder {}\n", Printable(run.folder));
  if (run.missed_events > 0) {
    Say("{} events were too fast to be recorded and are missing from the devices' totals\n",
        run.missed_events);
  }
  return PrintFleet(*store, run.id);
}

Status ImportFolders(const Arguments& arguments) {
  for (const std::string& folder : arguments.folders) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t run, ImportRun(StorePath(arguments.store), folder));
    Say("{} is run {}\n", folder, run);
  }
  return OkStatus();
}

Status RemoveRun(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto store, RunStore::Open(StorePath(arguments.store)));
  TRIBUTARY_ASSIGN_OR_RETURN(const RunRecord run, store->Find(arguments.run));
  TRIBUTARY_RETURN_IF_ERROR(store->Remove(run.id));
  Say("forgot run {}, {}{}{}\n", run.id, Printable(run.name),
      run.folder.empty() ? "" : "; its folder stays: ", Printable(run.folder));
  return OkStatus();
}

}  // namespace runs_command

void AddRunsCommand(CLI::App& app, Action& action) {
  using namespace runs_command;
  auto arguments = std::make_shared<Arguments>();
  const auto does = [arguments, &action](Status (*work)(const Arguments&)) {
    return [arguments, &action, work] { action.work = [arguments, work] { return work(*arguments); }; };
  };
  CLI::App* command = app.add_subcommand("runs", "List recorded runs, newest first");
  AddStoreOption(*command, arguments->store);
  AddDefaulted(*command, "--limit", arguments->limit, "Maximum number of runs to show")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  AddJsonFlag(*command, arguments->json);
  command->require_subcommand(0, 1);
  command->footer(
      "A run is given by its number, name, start of a name, folder, or 'last'.\n"
      "Examples:\n"
      "  tributary runs\n"
      "  tributary runs show last\n"
      "  tributary runs import runs/*");

  CLI::App* show = command->add_subcommand("show", "Show a run: state, and its devices' time and bytes");
  AddOption(*show, "run", arguments->run, "Number, name, beginning of a name, folder, or last")->required();
  AddStoreOption(*show, arguments->store);
  AddJsonFlag(*show, arguments->json);
  show->callback(does(ShowRun));

  CLI::App* import = command->add_subcommand("import", "Record runs from their folders, or update them");
  AddOption(*import, "folder", arguments->folders, "Run folders")->required();
  AddStoreOption(*import, arguments->store);
  import->callback(does(ImportFolders));

  CLI::App* remove = command->add_subcommand("remove", "Remove a run from the list; its folder stays");
  AddOption(*remove, "run", arguments->run, "Number, name, beginning of a name, folder, or last")->required();
  AddStoreOption(*remove, arguments->store);
  remove->callback(does(RemoveRun));

  command->callback([command, list = does(ListRuns)] {
    if (command->get_subcommands().empty()) list();
  });
}

}  // namespace tributary::inline cli
