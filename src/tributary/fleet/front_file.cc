#include "tributary/fleet/front_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/json_reader.h"

namespace tributary::inline fleet {
namespace {

using FrontJson = nlohmann::ordered_json;

constexpr Bytes kLargestFrontFile{256'000'000};
constexpr std::int64_t kMostFrontParts = 4'000'000;
constexpr std::int64_t kMostChannels = 1'000'000'000;

StatusOr<ParetoFront::Group> ReadFrontGroup(const JsonValue& object) {
  if (!object.is_object()) return InvalidArgument("it is " + object.Shown() + ", not an object");
  ParetoFront::Group group;
  TRIBUTARY_ASSIGN_OR_RETURN(group.name, object.Text("name"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t count, object.Count("channels", "a whole number"));
  if (count < 1 || count > static_cast<std::uint64_t>(kMostChannels)) {
    return InvalidArgument(
        fmt::format("its 'channels' is {}; a group has from 1 to a thousand million", count));
  }
  group.channels = static_cast<std::int64_t>(count);
  return group;
}

StatusOr<FrontPoint> ReadFrontPoint(const JsonValue& object) {
  if (!object.is_object()) return InvalidArgument("it is " + object.Shown() + ", not an object");
  FrontPoint point;
  TRIBUTARY_ASSIGN_OR_RETURN(point.dropout, object.Numbers("dropout"));
  TRIBUTARY_ASSIGN_OR_RETURN(point.macs, object.Number("macs"));
  TRIBUTARY_ASSIGN_OR_RETURN(point.time_ms, object.Number("time_ms"));
  TRIBUTARY_ASSIGN_OR_RETURN(point.convergence, object.Number("convergence"));
  return point;
}

template <typename Item, typename Read>
StatusOr<std::vector<Item>> ReadFrontList(const JsonValue& root, const char* key, std::size_t most,
                                          const Read& read) {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue list, root.List(key));
  if (list.size() > most) {
    return ResourceExhausted(
        fmt::format("its '{}' has {} entries; at most {} are read", key, list.size(), most));
  }
  std::vector<Item> items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto item = read(list[i]);
    if (!item.ok()) return std::move(item).status().WithContext(fmt::format("entry {} of '{}'", i, key));
    items.push_back(std::move(item).value());
  }
  return items;
}

Status ReadFrontCosts(const JsonValue& root, ParetoFront& front) {
  if (root.Has("cost")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string cost, root.Text("cost"));
    TRIBUTARY_ASSIGN_OR_RETURN(front.cost, ParseFrontCost(cost));
  }
  if (root.Has("channels")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string channels, root.Text("channels"));
    TRIBUTARY_ASSIGN_OR_RETURN(front.channels, ParseChannelChoice(channels));
  }
  if (root.Has("batch")) {
    TRIBUTARY_ASSIGN_OR_RETURN(front.batch, root.Count("batch", "a whole number"));
  }
  if (root.Has("untrained")) {
    TRIBUTARY_ASSIGN_OR_RETURN(front.untrained, root.Number("untrained"));
  }
  if (!root.Has("cost_model")) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue model, root.Object("cost_model"));
  for (const auto& [key, term] : {std::pair{"fixed_s", &front.cost_model.fixed},
                                  {"per_mac_s", &front.cost_model.per_mac},
                                  {"per_byte_s", &front.cost_model.per_byte}}) {
    TRIBUTARY_ASSIGN_OR_RETURN(*term, model.Number(key));
    if (!(*term >= 0 && *term <= 1e9)) {
      return InvalidArgument(fmt::format("'{}' of its cost model is {}; terms are seconds from 0 on", key,
                                         model.Find(key)->Shown()));
    }
  }
  return OkStatus();
}

// Writes whole numbers without ".0".
FrontJson WholeIfItIs(double value) {
  constexpr double kLargestExact = 9007199254740992.0;
  if (value == std::floor(value) && std::abs(value) <= kLargestExact) return static_cast<std::int64_t>(value);
  return value;
}

FrontJson PointJson(const FrontPoint& point) {
  return {{"dropout", point.dropout},
          {"macs", WholeIfItIs(point.macs)},
          {"time_ms", point.time_ms},
          {"convergence", point.convergence}};
}

FrontJson FrontToJson(const ParetoFront& front, const FrontExtras& extras) {
  FrontJson root = {{"model", front.model},
                    {"cost", NameOf(front.cost)},
                    {"channels", NameOf(front.channels)},
                    {"batch", front.batch}};
  if (!extras.data.empty()) {
    root["data"] = extras.data;
    root["input"] = extras.input;
    root["classes"] = extras.classes;
    root["scaling"] = extras.scaling;
    root["seed"] = extras.seed;
    root["generations"] = extras.generations;
    root["evaluated"] = extras.evaluated;
  }
  root["cost_model"] = {{"fixed_s", front.cost_model.fixed},
                        {"per_mac_s", front.cost_model.per_mac},
                        {"per_byte_s", front.cost_model.per_byte}};
  if (front.untrained) root["untrained"] = *front.untrained;
  root["groups"] = FrontJson::array();
  for (const ParetoFront::Group& group : front.groups)
    root["groups"].push_back({{"name", group.name}, {"channels", group.channels}});
  root["front"] = FrontJson::array();
  for (const FrontPoint& point : front.points) root["front"].push_back(PointJson(point));
  for (const FrontPoint& point : extras.uniform) root["uniform"].push_back(PointJson(point));
  if (extras.comparison) {
    const auto list = [&](const std::vector<FrontExtras::Retrained>& all) {
      FrontJson items = FrontJson::array();
      for (const auto& [point, losses] : all)
        items.push_back({{"cost", WholeIfItIs(point.Cost(front.cost))}, {"losses", losses}});
      return items;
    };
    root["comparison"] = {{"uniform", list(extras.comparison->uniform)},
                          {"front", list(extras.comparison->front)}};
  }
  return root;
}

}  // namespace

StatusOr<ParetoFront> ParseFront(std::string_view text) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      const JsonValue root,
      ParseJson(text, {.what = "a front", .levels = 9, .parts = kMostFrontParts, .by_people = true}));
  if (!root.is_object())
    return InvalidArgument("it is " + root.Shown() + ", not an object with 'groups' and 'front'");
  ParetoFront front;
  TRIBUTARY_ASSIGN_OR_RETURN(front.model, root.Text("model"));
  TRIBUTARY_RETURN_IF_ERROR(ReadFrontCosts(root, front));
  TRIBUTARY_ASSIGN_OR_RETURN(
      front.groups, ReadFrontList<ParetoFront::Group>(root, "groups", kMostFrontGroups, ReadFrontGroup));
  TRIBUTARY_ASSIGN_OR_RETURN(front.points,
                             ReadFrontList<FrontPoint>(root, "front", kMostFrontPoints, ReadFrontPoint));
  TRIBUTARY_RETURN_IF_ERROR(CheckFront(front));
  return front;
}

StatusOr<ParetoFront> ReadFront(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path, kLargestFrontFile));
  auto front = ParseFront({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!front.ok()) return std::move(front).status().WithContext(path.string());
  return front;
}

std::string FormatFront(const ParetoFront& front, const FrontExtras& extras) {
  return FrontToJson(front, extras).dump(2, ' ', false, FrontJson::error_handler_t::replace) + "\n";
}

std::string FormatFrontOnALine(const ParetoFront& front) {
  return FrontToJson(front, {}).dump(-1, ' ', false, FrontJson::error_handler_t::replace);
}

}  // namespace tributary::inline fleet
