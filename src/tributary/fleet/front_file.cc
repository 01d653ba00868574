#include "tributary/fleet/front_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"

namespace tributary {
namespace {

using FrontJson = nlohmann::ordered_json;

constexpr Bytes kLargestFrontFile{256'000'000};
constexpr std::int64_t kMostFrontParts = 4'000'000;
constexpr std::int64_t kMostChannels = 1'000'000'000;

std::string ShownInFront(const FrontJson& value) {
  const std::string text = value.dump(-1, ' ', false, FrontJson::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

StatusOr<const FrontJson*> FrontField(const FrontJson& object, const char* key,
                                      bool (FrontJson::*is)() const noexcept, const char* wanted) {
  const auto found = object.find(key);
  if (found == object.end()) return InvalidArgument(std::string("it has no '") + key + "'");
  if (!((*found).*is)()) {
    return InvalidArgument(std::string("its '") + key + "' is " + ShownInFront(*found) + ", not " + wanted);
  }
  return &*found;
}

StatusOr<double> FrontNumber(const FrontJson& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* value,
                             FrontField(object, key, &FrontJson::is_number, "a number"));
  return value->get<double>();
}

StatusOr<ParetoFront::Group> ReadFrontGroup(const FrontJson& object) {
  if (!object.is_object()) return InvalidArgument("it is " + ShownInFront(object) + ", not an object");
  ParetoFront::Group group;
  TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* name,
                             FrontField(object, "name", &FrontJson::is_string, "a text"));
  group.name = name->get<std::string>();
  TRIBUTARY_ASSIGN_OR_RETURN(
      const FrontJson* channels,
      FrontField(object, "channels", &FrontJson::is_number_unsigned, "a whole number"));
  const auto count = channels->get<std::uint64_t>();
  if (count < 1 || count > static_cast<std::uint64_t>(kMostChannels)) {
    return InvalidArgument("its 'channels' is " + ShownInFront(*channels) +
                           "; a group has from 1 to a thousand million");
  }
  group.channels = static_cast<std::int64_t>(count);
  return group;
}

StatusOr<FrontPoint> ReadFrontPoint(const FrontJson& object) {
  if (!object.is_object()) return InvalidArgument("it is " + ShownInFront(object) + ", not an object");
  FrontPoint point;
  TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* dropout,
                             FrontField(object, "dropout", &FrontJson::is_array, "a list"));
  for (const FrontJson& rate : *dropout) {
    if (!rate.is_number())
      return InvalidArgument("its 'dropout' has " + ShownInFront(rate) + " in it, not a number");
    point.dropout.push_back(rate.get<double>());
  }
  TRIBUTARY_ASSIGN_OR_RETURN(point.macs, FrontNumber(object, "macs"));
  TRIBUTARY_ASSIGN_OR_RETURN(point.time_ms, FrontNumber(object, "time_ms"));
  TRIBUTARY_ASSIGN_OR_RETURN(point.convergence, FrontNumber(object, "convergence"));
  return point;
}

template <typename Item, typename Read>
StatusOr<std::vector<Item>> ReadFrontList(const FrontJson& root, const char* key, std::size_t most,
                                          const Read& read) {
  TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* list, FrontField(root, key, &FrontJson::is_array, "a list"));
  if (list->size() > most) {
    return ResourceExhausted(std::string("its '") + key + "' has " + std::to_string(list->size()) +
                             " entries; at most " + std::to_string(most) + " are read");
  }
  std::vector<Item> items;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto item = read((*list)[i]);
    if (!item.ok())
      return std::move(item).status().WithContext("entry " + std::to_string(i) + " of '" + key + "'");
    items.push_back(std::move(item).value());
  }
  return items;
}

Status ReadFrontCosts(const FrontJson& root, ParetoFront& front) {
  if (root.contains("cost")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* cost,
                               FrontField(root, "cost", &FrontJson::is_string, "a text"));
    TRIBUTARY_ASSIGN_OR_RETURN(front.cost, ParseFrontCost(cost->get_ref<const std::string&>()));
  }
  if (root.contains("channels")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* channels,
                               FrontField(root, "channels", &FrontJson::is_string, "a text"));
    TRIBUTARY_ASSIGN_OR_RETURN(front.channels, ParseChannelChoice(channels->get_ref<const std::string&>()));
  }
  if (root.contains("batch")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* batch,
                               FrontField(root, "batch", &FrontJson::is_number_unsigned, "a whole number"));
    front.batch = batch->get<std::size_t>();
  }
  if (root.contains("untrained")) {
    TRIBUTARY_ASSIGN_OR_RETURN(front.untrained, FrontNumber(root, "untrained"));
  }
  if (!root.contains("cost_model")) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* model,
                             FrontField(root, "cost_model", &FrontJson::is_object, "an object"));
  for (const auto& [key, term] : {std::pair{"fixed_s", &front.cost_model.fixed},
                                  {"per_mac_s", &front.cost_model.per_mac},
                                  {"per_byte_s", &front.cost_model.per_byte}}) {
    TRIBUTARY_ASSIGN_OR_RETURN(*term, FrontNumber(*model, key));
    if (!(*term >= 0 && *term <= 1e9)) {
      return InvalidArgument(std::string("'") + key + "' of its cost model is " +
                             ShownInFront((*model)[key]) + "; terms are seconds from 0 on");
    }
  }
  return OkStatus();
}

// Counts without ".0" behind them.
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

}  // namespace

StatusOr<ParetoFront> ParseFront(std::string_view text) {
  // Refused while it is read: the tree of a hostile text would take many times its memory.
  bool too_large = false;
  std::int64_t parts = 0;
  const auto watch = [&](int depth, FrontJson::parse_event_t, FrontJson&) {
    if (depth > 8 || ++parts > kMostFrontParts) too_large = true;
    return !too_large;
  };
  const FrontJson root = FrontJson::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (too_large) return ResourceExhausted("it has more levels of brackets, or more parts, than a front");
  if (root.is_discarded()) return InvalidArgument("it is not JSON");
  if (!root.is_object())
    return InvalidArgument("it is " + ShownInFront(root) + ", not an object with 'groups' and 'front'");
  ParetoFront front;
  TRIBUTARY_ASSIGN_OR_RETURN(const FrontJson* model,
                             FrontField(root, "model", &FrontJson::is_string, "a text"));
  front.model = model->get<std::string>();
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

namespace {

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
  for (const ParetoFront::Group& group : front.groups) {
    root["groups"].push_back({{"name", group.name}, {"channels", group.channels}});
  }
  root["front"] = FrontJson::array();
  for (const FrontPoint& point : front.points) root["front"].push_back(PointJson(point));
  if (!extras.uniform.empty()) {
    root["uniform"] = FrontJson::array();
    for (const FrontPoint& point : extras.uniform) root["uniform"].push_back(PointJson(point));
  }
  if (extras.comparison) {
    const auto list = [&](const std::vector<FrontExtras::Retrained>& all) {
      FrontJson items = FrontJson::array();
      for (const auto& [point, losses] : all) {
        items.push_back({{"cost", WholeIfItIs(point.Cost(front.cost))}, {"losses", losses}});
      }
      return items;
    };
    root["comparison"] = {{"uniform", list(extras.comparison->uniform)},
                          {"front", list(extras.comparison->front)}};
  }
  return root;
}

}  // namespace

std::string FormatFront(const ParetoFront& front, const FrontExtras& extras) {
  return FrontToJson(front, extras).dump(2, ' ', false, FrontJson::error_handler_t::replace) + "\n";
}

std::string FormatFrontOnALine(const ParetoFront& front) {
  return FrontToJson(front, {}).dump(-1, ' ', false, FrontJson::error_handler_t::replace);
}

}  // namespace tributary
