#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "tributary/dashboard/board.h"

namespace tributary::inline dashboard {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no other numbers; NaN and infinite losses are shown as unknown.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(); }
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A field of the page: its name, its type there (board.ts), and its value in a row.
template <typename Row>
struct Named {
  std::string name;
  const char* kind;
  std::function<Json(const Row&)> get;
};
constexpr const char *kNumber = "number", *kOptional = "optional", *kText = "text";

Json RunPart(const Board& board) {
  const RunStarted run = board.totals.run.value_or(RunStarted{});
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
  json["target"] = Number(board.metadata.target);
  json["deadline_s"] = board.metadata.deadline ? Json(ToSeconds(*board.metadata.deadline)) : Json();
  json["simulated"] = board.metadata.simulated;
  return json;
}

std::vector<Named<Board>> NowFields() {
  std::vector<Named<Board>> fields = {
      {"round", kNumber, [](const Board& b) { return b.round; }},
      {"time_s", kNumber, [](const Board& b) { return ToSeconds(b.totals.sums.time); }},
      {"participants", kNumber, [](const Board& b) { return b.participants; }},
      {"back", kNumber, [](const Board& b) { return b.back; }},
      {"state", kText,
       [](const Board& b) { return b.totals.finished ? "finished"
                                   : b.round > 0     ? "running"
                                                     : "waiting"; }},
      {"ended_by", kText,
       [](const Board& b) { return b.totals.finished ? Json(NameOf(b.totals.finished->reason)) : Json(); }},
      {"accuracy", kOptional, [](const Board& b) { return Number(b.totals.sums.accuracy); }},
      {"loss", kOptional, [](const Board& b) { return Number(b.totals.sums.loss); }},
      {"bytes_down", kNumber, [](const Board& b) { return b.totals.sums.down.value; }},
      {"bytes_up", kNumber, [](const Board& b) { return b.totals.sums.up.value; }},
      {"bytes_relayed", kNumber, [](const Board& b) { return b.totals.relayed.value; }},
      {"bytes_injected", kNumber, [](const Board& b) { return b.totals.sums.injected.value; }},
      {"dense_bytes_up", kNumber, [](const Board& b) { return b.dense_up.value; }},
      {"waiting_share", kOptional, [](const Board& b) { return Number(b.totals.sums.waiting_share()); }}};
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    fields.push_back(
        {std::string(kOutcomeNames[i]), kNumber, [i](const Board& b) { return b.totals.outcomes[i]; }});
  }
  return fields;
}

std::vector<Named<Board::Round>> RoundColumns() {
  using Point = Board::Round;
  return {{"round", kNumber, [](const Point& p) { return p.finished.round.value; }},
          {"time_s", kNumber, [](const Point& p) { return ToSeconds(p.time); }},
          {"bytes", kNumber, [](const Point& p) { return p.bytes.value; }},
          {"duration_s", kNumber, [](const Point& p) { return ToSeconds(p.finished.duration); }},
          {"train_loss", kOptional, [](const Point& p) { return Number(p.finished.train_loss); }},
          {"applied", kNumber, [](const Point& p) { return p.finished.applied; }},
          {"participants", kNumber, [](const Point& p) { return p.shares.participants; }},
          {"waiting_share", kOptional, [](const Point& p) { return Number(p.shares.waiting); }},
          {"buffered", kNumber, [](const Point& p) { return p.finished.buffered; }},
          {"overlap", kOptional, [](const Point& p) { return Number(p.finished.overlap); }},
          {"kept", kOptional, [](const Point& p) { return Number(p.shares.kept); }},
          {"bytes_up", kNumber, [](const Point& p) { return p.up.value; }},
          {"dense_bytes_up", kNumber, [](const Point& p) { return p.dense_up.value; }},
          {"deviation", kOptional, [](const Point& p) { return Number(p.deviation); }}};
}

std::vector<Named<Board::Evaluation>> EvaluationColumns() {
  using Point = Board::Evaluation;
  return {{"round", kNumber, [](const Point& p) { return p.round; }},
          {"time_s", kNumber, [](const Point& p) { return ToSeconds(p.time); }},
          {"bytes", kNumber, [](const Point& p) { return p.bytes.value; }},
          {"accuracy", kOptional, [](const Point& p) { return Number(p.accuracy); }},
          {"loss", kOptional, [](const Point& p) { return Number(p.loss); }}};
}

struct DeviceRow {
  const Board& board;
  std::size_t place;

  const std::optional<DeviceFinished>& last() const { return board.devices[place].last; }
  const RunMetadata::Device& metadata() const {
    static const RunMetadata::Device kUnknown;
    return place < board.metadata.devices.size() ? board.metadata.devices[place] : kUnknown;
  }
  const DeviceTotals& totals() const {
    static const DeviceTotals kNone;
    return place < board.totals.devices.size() ? board.totals.devices[place] : kNone;
  }
};

// A figure in the page's units: times in seconds.
Json PageValue(std::uint64_t value) { return value; }
Json PageValue(double value) { return Number(value); }
Json PageValue(Duration value) { return ToSeconds(value); }
Json PageValue(Bytes value) { return value.value; }
template <typename Value>
Json PageValue(const std::optional<Value>& value) {
  return value ? PageValue(*value) : Json();
}

// Figures of a device's last round, with defaults before the first, and totals over all rounds.
std::vector<Named<DeviceRow>> DeviceColumns() {
  std::vector<Named<DeviceRow>> columns = {
      {"id", kNumber, [](const DeviceRow& d) { return d.place; }},
      {"name", kText, [](const DeviceRow& d) { return d.metadata().name; }},
      {"group", kText, [](const DeviceRow& d) { return d.metadata().group; }},
      {"state", kText, [](const DeviceRow& d) { return d.board.devices[d.place].state; }},
      {"outcome", kText, [](const DeviceRow& d) { return d.last() ? NameOf(d.last()->outcome) : ""; }},
      {"reason", kText, [](const DeviceRow& d) { return d.last() ? d.last()->reason : ""; }},
      {"applied", kNumber, [](const DeviceRow& d) { return d.totals().applied; }},
      {"missed", kNumber, [](const DeviceRow& d) { return d.totals().missed; }},
      {"round", kNumber, [](const DeviceRow& d) { return d.last() ? d.last()->round.value : 0; }}};
  VisitDeviceFigures([&]<typename Value>(const DeviceFigure& figure, Value DeviceFinished::*member) {
    if constexpr (requires(const Value& value) { PageValue(value); }) {
      if (figure.page == nullptr) return;
      const bool optional = requires(const Value& value) { value.has_value(); };
      columns.push_back({figure.page, optional ? kOptional : kNumber, [=](const DeviceRow& d) {
                           if (!d.last()) return optional ? Json() : Json(0);
                           return PageValue((*d.last()).*member);
                         }});
    }
  });
  for (const DeviceBytes& bytes : kDeviceBytes) {
    columns.push_back({"bytes_" + std::string(bytes.name), kNumber,
                       [part = bytes.part](const DeviceRow& d) { return (d.totals().*part).value; }});
  }
  return columns;
}

Json NowPart(const Board& board) {
  Json json;
  for (const auto& field : NowFields()) json[field.name] = field.get(board);
  return json;
}

// The columns of `points`, starting at index `from`.
template <typename Point>
Json ColumnsPart(const std::vector<Named<Point>>& columns, const std::vector<Point>& points,
                 std::size_t from) {
  Json json;
  for (const auto& column : columns) {
    Json& values = json[column.name] = Json::array();
    for (std::size_t i = from; i < points.size(); ++i) values.push_back(column.get(points[i]));
  }
  return json;
}

Json DevicesPart(const Board& board) {
  const std::size_t shown = board.devices.size();
  Json json;
  json["left_out"] = std::max<std::uint64_t>(board.totals.run ? board.totals.run->devices : 0, shown) - shown;
  for (const auto& column : DeviceColumns()) {
    Json& values = json[column.name] = Json::array();
    for (std::size_t i = 0; i < shown; ++i) values.push_back(column.get({board, i}));
  }
  return json;
}

Json ClassesPart(const Board& board) {
  std::size_t classes = 0;
  const std::size_t shown = std::min(board.metadata.devices.size(), Board::kMostShown);
  for (std::size_t i = 0; i < shown; ++i)
    classes = std::max(classes, board.metadata.devices[i].class_counts.size());
  if (classes == 0) return {};
  Json json;
  json["names"] = Json::array();
  for (std::size_t c = 0; c < classes; ++c) json["names"].push_back(std::to_string(c));
  json["counts"] = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::int64_t> counts = board.metadata.devices[i].class_counts;
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

template <typename Row>
std::string SpecText(const char* name, const std::vector<Named<Row>>& columns) {
  std::string text = "\nexport const " + std::string(name) + " = {\n";
  for (const auto& column : columns) text += "  " + column.name + ": \"" + column.kind + "\",\n";
  return text + "} as const;\n";
}

}  // namespace

std::string BoardTypes() {
  std::string times;
  VisitDeviceFigures([&]<typename Value>(const DeviceFigure& figure, Value DeviceFinished::*) {
    if (!std::is_same_v<Value, Duration> || figure.page == nullptr) return;
    times += (times.empty() ? "\"" : ", \"") + std::string(figure.page) + "\"";
  });
  return "// Generated from the program's figures; a test compares them. Regenerate with\n"
         "//   TRIBUTARY_WRITE_TYPES=1 dashboard_test --gtest_filter='BoardTypes.*'\n" +
         SpecText("nowFields", NowFields()) + SpecText("roundColumns", RoundColumns()) +
         SpecText("evaluationColumns", EvaluationColumns()) + SpecText("deviceColumns", DeviceColumns()) +
         "\n// Where the time of a device's last round went.\nexport const deviceTimes = [" + times +
         "] as const;\n";
}

std::string BoardJson(const Board& board) {
  Json json;
  json["schema"] = 1;
  json["run"] = RunPart(board);
  json["now"] = NowPart(board);
  json["rounds"] = ColumnsPart(RoundColumns(), board.rounds.points(), 0);
  json["evaluations"] = ColumnsPart(EvaluationColumns(), board.evaluations.points(), 0);
  json["devices"] = DevicesPart(board);
  json["classes"] = ClassesPart(board);
  json["front"] = nullptr;
  if (!board.metadata.front.empty()) {
    json["front"] = Json::array();
    for (const RunMetadata::Choice& choice : board.metadata.front) {
      json["front"].push_back({{"cost", Number(choice.cost)}, {"convergence", Number(choice.convergence)}});
    }
  }
  json["notes"] = NotesPart(board);
  json["panels"] = board.metadata.mechanisms;
  return Dump(json);
}

std::string NowJson(const Board& board) { return Dump(NowPart(board)); }
std::string DevicesJson(const Board& board) { return Dump(DevicesPart(board)); }
std::string NotesJson(const Board& board) { return Dump(NotesPart(board)); }

std::string PointsJson(const Board& board, std::uint64_t rounds, std::uint64_t evaluations) {
  Json json;
  const std::size_t old_rounds = board.rounds.Settled(rounds),
                    old_evaluations = board.evaluations.Settled(evaluations);
  json["rounds"] = ColumnsPart(RoundColumns(), board.rounds.points(), old_rounds);
  json["rounds"]["keep"] = old_rounds;
  json["evaluations"] = ColumnsPart(EvaluationColumns(), board.evaluations.points(), old_evaluations);
  json["evaluations"]["keep"] = old_evaluations;
  return Dump(json);
}

}  // namespace tributary::inline dashboard
