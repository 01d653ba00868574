#include "tributary/cli/run_lists.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tributary/cli/run_options.h"
#include "tributary/store/run_files.h"
#include "tributary/store/run_store.h"

namespace tributary::inline cli {
namespace {

// JSON has only finite numbers.
nlohmann::ordered_json NumberOrNull(std::optional<double> value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

bool IsRunFolder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path / "events.jsonl", error);
}

}  // namespace

std::string FormatLocalTime(WallTime time) {
  const auto seconds =
      static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  std::tm parts{};
  char text[32];
  if (::localtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts) == 0) {
    return "–";
  }
  return text;
}

std::string FormatShare(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "–";
}

nlohmann::ordered_json RunJson(const RunRecord& run) {
  nlohmann::ordered_json json = {{"id", run.id},
                                 {"name", run.name},
                                 {"folder", run.folder},
                                 {"experiment", run.what.experiment},
                                 {"seed", run.what.seed},
                                 {"method", run.what.method},
                                 {"model", run.what.model},
                                 {"compute_as", run.what.compute_as},
                                 {"data", run.what.data},
                                 {"devices", run.what.devices},
                                 {"parameters", run.what.parameters},
                                 {"planned_rounds", run.what.rounds},
                                 {"state", NameOf(run.state)},
                                 {"ended_by", run.ended_by},
                                 {"simulated", run.simulated},
                                 {"started_unix", static_cast<double>(run.started.count()) * 1e-9},
                                 {"finished_unix", nullptr},
                                 {"rounds", run.rounds},
                                 {"accuracy", NumberOrNull(run.accuracy)},
                                 {"best_accuracy", NumberOrNull(run.best_accuracy)},
                                 {"loss", NumberOrNull(run.loss)},
                                 {"seconds", ToSeconds(run.time)},
                                 {"bytes_down", run.down.value},
                                 {"bytes_up", run.up.value},
                                 {"bytes_injected", run.injected.value},
                                 {"waiting_share", NumberOrNull(run.waiting_share())},
                                 {"missed_events", run.missed_events}};
  if (run.finished) json["finished_unix"] = static_cast<double>(run.finished->count()) * 1e-9;
  return json;
}

nlohmann::ordered_json ComparisonJson(const Comparison& comparison) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const ComparedRun& compared : comparison.runs) {
    nlohmann::ordered_json json = RunJson(compared.run);
    json["to_target"] = nullptr;
    if (compared.reached) {
      json["to_target"] = {{"seconds", ToSeconds(compared.reached->time)},
                           {"round", compared.reached->round.value},
                           {"bytes", compared.reached->bytes.value},
                           {"sooner", NumberOrNull(compared.sooner)},
                           {"fewer_rounds", NumberOrNull(compared.fewer_rounds)},
                           {"fewer_bytes", NumberOrNull(compared.fewer_bytes)}};
    }
    runs.push_back(std::move(json));
  }
  return {{"target", comparison.target}, {"runs", runs}};
}

StatusOr<RunHistory> FindRun(const std::string& store, const std::string& named) {
  const bool is_folder = IsRunFolder(named);
  if (is_folder && named.find('/') != std::string::npos) return HistoryOfFolder(named);
  auto opened = RunStore::Open(StorePath(store));
  Status failure = opened.ok() ? OkStatus() : opened.status();
  if (opened.ok()) {
    auto run = (*opened)->Find(named);
    if (run.ok()) {
      constexpr std::size_t kAll = 1'000'000;
      RunHistory history;
      history.run = *run;
      TRIBUTARY_ASSIGN_OR_RETURN(history.evaluations, (*opened)->Evaluations(run->id, kAll));
      return history;
    }
    failure = std::move(run).status();
  }
  if (is_folder) return HistoryOfFolder(named);
  if (!opened.ok() && failure.code() == StatusCode::kNotFound) {
    return NotFound("'" + named + "' is no run's folder, and " + failure.message());
  }
  return failure;
}

StatusOr<std::filesystem::path> FindRunFolder(const std::string& store, const std::string& named) {
  if (IsRunFolder(named)) return std::filesystem::path(named);
  auto opened = RunStore::Open(StorePath(store));
  if (!opened.ok())
    return NotFound("there is no run in " + named + ": it has no events.jsonl; and " +
                    opened.status().message());
  TRIBUTARY_ASSIGN_OR_RETURN(const RunRecord run, (*opened)->Find(named));
  if (run.folder.empty())
    return NotFound("the run " + run.name + " was recorded without a folder, which a report needs");
  if (!IsRunFolder(run.folder)) {
    return NotFound("the run " + run.name + " was recorded, but its folder " + run.folder +
                    " has no events.jsonl");
  }
  return std::filesystem::path(run.folder);
}

}  // namespace tributary::inline cli
