#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/dashboard/board.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 5> kOutcomes = {"applied", "late", "lost", "refused", "crashed"};
constexpr std::array<const char*, 4> kEnds = {"rounds", "time", "target", "interrupted"};

// JSON has no other numbers; a loss that is none is shown as unknown.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(); }

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A column of `points` from the `from`-th on.
template <typename Points, typename Get>
Json Column(const Points& points, std::size_t from, Get get) {
  Json column = Json::array();
  for (std::size_t i = from; i < points.size(); ++i) column.push_back(get(points[i]));
  return column;
}

Json RunPart(const Board& board) {
  const RunStarted run = board.run.value_or(RunStarted{});
  Json json;
  json["experiment"] = run.experiment;
  json["seed"] = run.seed;
  json["method"] = run.method;
  json["model"] = run.model;
  json["compute_as"] = run.compute_as;
  json["data"] = run.data;
  json["devices"] = run.devices;
  json["parameters"] = run.parameters;
  json["rounds"] = run.rounds;
  json["target"] = Number(board.facts.target);
  json["deadline_s"] = board.facts.deadline ? Json(ToSeconds(*board.facts.deadline)) : Json();
  json["simulated"] = board.facts.simulated;
  return json;
}

Json NowPart(const Board& board) {
  Json json;
  json["round"] = board.round;
  json["time_s"] = ToSeconds(board.time);
  json["participants"] = board.participants;
  json["back"] = board.back;
  json["state"] = board.finished ? "finished" : board.round > 0 ? "running" : "waiting";
  json["ended_by"] = board.finished ? Json(kEnds[static_cast<std::size_t>(board.finished->reason)]) : Json();
  json["accuracy"] = Number(board.accuracy);
  json["loss"] = Number(board.loss);
  json["bytes_down"] = board.down.value;
  json["bytes_up"] = board.up.value;
  json["bytes_relayed"] = board.relayed.value;
  json["bytes_injected"] = board.injected.value;
  json["dense_bytes_up"] = board.dense_up.value;
  json["waiting_share"] =
      board.present > Duration{0} ? Number(ToSeconds(board.waited) / ToSeconds(board.present)) : Json();
  json["applied"] = board.applied;
  json["late"] = board.late;
  json["lost"] = board.lost;
  json["refused"] = board.refused;
  json["crashed"] = board.crashed;
  return json;
}

Json RoundsPart(const std::vector<Board::Round>& points, std::size_t from) {
  using Point = Board::Round;
  const auto column = [&](auto get) { return Column(points, from, get); };
  Json json;
  json["round"] = column([](const Point& p) { return p.round; });
  json["time_s"] = column([](const Point& p) { return ToSeconds(p.time); });
  json["bytes"] = column([](const Point& p) { return p.bytes.value; });
  json["duration_s"] = column([](const Point& p) { return ToSeconds(p.duration); });
  json["train_loss"] = column([](const Point& p) { return Number(p.train_loss); });
  json["applied"] = column([](const Point& p) { return p.applied; });
  json["participants"] = column([](const Point& p) { return p.participants; });
  json["waiting_share"] = column([](const Point& p) { return Number(p.waiting_share); });
  json["buffered"] = column([](const Point& p) { return p.buffered; });
  json["overlap"] = column([](const Point& p) { return Number(p.overlap); });
  json["kept"] = column([](const Point& p) { return Number(p.kept); });
  json["bytes_up"] = column([](const Point& p) { return p.up.value; });
  json["dense_bytes_up"] = column([](const Point& p) { return p.dense_up.value; });
  json["deviation"] = column([](const Point& p) { return Number(p.deviation); });
  return json;
}

Json EvaluationsPart(const std::vector<Board::Evaluation>& points, std::size_t from) {
  using Point = Board::Evaluation;
  const auto column = [&](auto get) { return Column(points, from, get); };
  Json json;
  json["round"] = column([](const Point& p) { return p.round; });
  json["time_s"] = column([](const Point& p) { return ToSeconds(p.time); });
  json["bytes"] = column([](const Point& p) { return p.bytes.value; });
  json["accuracy"] = column([](const Point& p) { return Number(p.accuracy); });
  json["loss"] = column([](const Point& p) { return Number(p.loss); });
  return json;
}

Json DevicesPart(const Board& board) {
  const auto& rows = board.devices;
  const auto each = [&](auto get) {
    Json column = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) column.push_back(get(i));
    return column;
  };
  // Of a device's last round; `none` before its first.
  const auto last = [&](Json none, auto get) {
    return each([&, none](std::size_t i) { return rows[i].last ? Json(get(*rows[i].last)) : none; });
  };
  const auto fact = [&](auto get) {
    return each([&](std::size_t i) {
      return i < board.facts.devices.size() ? get(board.facts.devices[i]) : std::string();
    });
  };
  const std::uint64_t all = std::max<std::uint64_t>(board.run ? board.run->devices : 0, rows.size());
  Json json;
  json["left_out"] = all - rows.size();
  json["id"] = each([](std::size_t i) { return i; });
  json["name"] = fact([](const RunFacts::Device& device) { return device.name; });
  json["group"] = fact([](const RunFacts::Device& device) { return device.group; });
  json["state"] = each([&](std::size_t i) { return rows[i].state; });
  json["outcome"] =
      last("", [](const DeviceFinished& d) { return kOutcomes[static_cast<std::size_t>(d.outcome)]; });
  json["reason"] = last("", [](const DeviceFinished& d) { return d.reason; });
  json["applied"] = each([&](std::size_t i) { return rows[i].applied; });
  json["missed"] = each([&](std::size_t i) { return rows[i].missed; });
  json["round"] = last(0, [](const DeviceFinished& d) { return d.round.value; });
  json["samples"] = last(0, [](const DeviceFinished& d) { return d.samples; });
  json["loss"] = last(nullptr, [](const DeviceFinished& d) { return Number(d.loss); });
  json["pull_s"] = last(0, [](const DeviceFinished& d) { return ToSeconds(d.pull); });
  json["compute_s"] = last(0, [](const DeviceFinished& d) { return ToSeconds(d.compute); });
  json["push_s"] = last(0, [](const DeviceFinished& d) { return ToSeconds(d.push); });
  json["wait_s"] = last(0, [](const DeviceFinished& d) { return ToSeconds(d.wait); });
  json["hidden_s"] = last(0, [](const DeviceFinished& d) { return ToSeconds(d.hidden); });
  json["planned_s"] =
      last(nullptr, [](const DeviceFinished& d) { return d.planned ? Json(ToSeconds(*d.planned)) : Json(); });
  json["rate"] = last(nullptr, [](const DeviceFinished& d) { return Number(d.stream_rate); });
  json["buffered"] = last(0, [](const DeviceFinished& d) { return d.buffered; });
  json["dropped"] = last(0, [](const DeviceFinished& d) { return d.dropped; });
  json["kept"] = last(nullptr, [](const DeviceFinished& d) { return Number(d.kept); });
  json["met"] = last(nullptr, [](const DeviceFinished& d) { return d.met ? Json(*d.met) : Json(); });
  json["bytes_down"] = each([&](std::size_t i) { return rows[i].down.value; });
  json["bytes_up"] = each([&](std::size_t i) { return rows[i].up.value; });
  return json;
}

Json ClassesPart(const Board& board) {
  std::size_t classes = 0;
  const std::size_t shown = std::min(board.facts.devices.size(), Board::kMostShown);
  for (std::size_t i = 0; i < shown; ++i)
    classes = std::max(classes, board.facts.devices[i].class_counts.size());
  if (classes == 0) return {};
  Json json;
  json["names"] = Json::array();
  for (std::size_t c = 0; c < classes; ++c) json["names"].push_back(std::to_string(c));
  json["counts"] = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::int64_t> counts = board.facts.devices[i].class_counts;
    counts.resize(classes);
    json["counts"].push_back(counts);
  }
  return json;
}

Json NotesPart(const Board& board) {
  Json json = Json::array();
  for (const Board::Said& note : board.notes)
    json.push_back({{"time_s", ToSeconds(note.time)}, {"text", note.text}});
  return json;
}

}  // namespace

std::string BoardJson(const Board& board) {
  Json json;
  json["schema"] = 1;
  json["run"] = RunPart(board);
  json["now"] = NowPart(board);
  json["rounds"] = RoundsPart(board.rounds.points(), 0);
  json["evaluations"] = EvaluationsPart(board.evaluations.points(), 0);
  json["devices"] = DevicesPart(board);
  json["classes"] = ClassesPart(board);
  json["front"] = nullptr;
  if (!board.facts.front.empty()) {
    json["front"] = Json::array();
    for (const RunFacts::Choice& choice : board.facts.front) {
      json["front"].push_back({{"cost", Number(choice.cost)}, {"convergence", Number(choice.convergence)}});
    }
  }
  json["notes"] = NotesPart(board);
  json["panels"] = board.facts.mechanisms;
  return Dump(json);
}

std::string NowJson(const Board& board) { return Dump(NowPart(board)); }
std::string DevicesJson(const Board& board) { return Dump(DevicesPart(board)); }
std::string NotesJson(const Board& board) { return Dump(NotesPart(board)); }

std::string PointsJson(const Board& board, std::uint64_t rounds, std::uint64_t evaluations) {
  Json json;
  const std::size_t old_rounds = board.rounds.Settled(rounds),
                    old_evaluations = board.evaluations.Settled(evaluations);
  json["rounds"] = RoundsPart(board.rounds.points(), old_rounds);
  json["rounds"]["keep"] = old_rounds;
  json["evaluations"] = EvaluationsPart(board.evaluations.points(), old_evaluations);
  json["evaluations"]["keep"] = old_evaluations;
  return Dump(json);
}

}  // namespace tributary
