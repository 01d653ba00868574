#include "tributary/fleet/transfer_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/json_reader.h"
#include "tributary/base/names.h"

namespace tributary::inline fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 1000;
constexpr std::uint64_t kMostLayerBytes = std::uint64_t{1} << 50;
// A sum of a million such times stays far from overflow and precise enough.
constexpr double kLongestMs = 1e12;

constexpr std::pair<const char*, double TransferProfile::Layer::*> kLayerTimes[] = {
    {"pull_ms", &TransferProfile::Layer::pull_ms},
    {"forward_ms", &TransferProfile::Layer::forward_ms},
    {"backward_ms", &TransferProfile::Layer::backward_ms},
    {"push_ms", &TransferProfile::Layer::push_ms}};
const std::vector<std::string> kLayerKeys = {"name",        "pull_ms", "forward_ms",
                                             "backward_ms", "push_ms", "bytes"};
const std::vector<std::string> kProfileKeys = {"setup_ms", "pull_setup_ms", "push_setup_ms", "layers"};

Status CheckKeys(const JsonValue& object, const std::vector<std::string>& known, const std::string& where) {
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(known, key) == known.end())
      return InvalidArgument(where + ": " + UnknownName("key", key, known).message());
  }
  return OkStatus();
}

StatusOr<double> Milliseconds(const JsonValue& object, const char* key, const std::string& where) {
  TRIBUTARY_ASSIGN_OR_RETURN(const double value, object.Called(where).Number(key));
  if (!(value >= 0 && value <= kLongestMs)) {
    return InvalidArgument(where + ": '" + key + "' is " + object.Find(key)->Shown() +
                           "; times are finite milliseconds from 0 to 1e12");
  }
  return value;
}

StatusOr<TransferProfile::Layer> ReadLayer(const JsonValue& object, std::size_t index) {
  const std::string where = "layer " + std::to_string(index);
  if (!object.is_object()) return InvalidArgument(where + " is " + object.Shown() + ", not an object");
  TRIBUTARY_RETURN_IF_ERROR(CheckKeys(object, kLayerKeys, where));
  TransferProfile::Layer layer;
  layer.name = std::to_string(index);
  if (object.Has("name")) {
    TRIBUTARY_ASSIGN_OR_RETURN(layer.name, object.Called(where).Text("name"));
    layer.name.resize(std::min(layer.name.size(), kLongestName));
  }
  for (const auto& [key, time] : kLayerTimes) {
    TRIBUTARY_ASSIGN_OR_RETURN(layer.*time, Milliseconds(object, key, where));
  }
  if (const auto bytes = object.Find("bytes")) {
    const std::uint64_t count = bytes->count().value_or(kMostLayerBytes + 1);
    if (count > kMostLayerBytes)
      return InvalidArgument(where + ": 'bytes' is " + bytes->Shown() + ", not a whole number of bytes");
    layer.bytes = static_cast<std::int64_t>(count);
  }
  return layer;
}

}  // namespace

PassProfile TransferProfile::Pass(double setup, double Layer::*transfer, double Layer::*compute) const {
  PassProfile profile{setup, {}, {}};
  for (const Layer& layer : layers) {
    profile.transfer.push_back(layer.*transfer);
    profile.compute.push_back(layer.*compute);
  }
  return profile;
}

SegmentBound TransferProfile::Bound(std::optional<std::int64_t> most_bytes) const {
  if (!most_bytes) return {};
  SegmentBound bound{{}, static_cast<double>(*most_bytes)};
  for (const Layer& layer : layers) bound.sizes.push_back(static_cast<double>(layer.bytes));
  return bound;
}

StatusOr<TransferProfile> ParseTransferProfile(std::string_view text) {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue root,
                             ParseJson(text, {.what = "a profile", .levels = 0, .by_people = true}));
  if (!root.is_object())
    return InvalidArgument("it is " + root.Shown() + ", not an object with 'setup_ms' and 'layers'");
  TRIBUTARY_RETURN_IF_ERROR(CheckKeys(root, kProfileKeys, "the profile"));
  TransferProfile profile;
  const bool both = root.Has("pull_setup_ms") && root.Has("push_setup_ms");
  if (root.Has("setup_ms") || !both) {
    TRIBUTARY_ASSIGN_OR_RETURN(profile.pull_setup_ms, Milliseconds(root, "setup_ms", "the profile"));
    profile.push_setup_ms = profile.pull_setup_ms;
  }
  for (const auto& [key, setup] :
       {std::pair{"pull_setup_ms", &profile.pull_setup_ms}, {"push_setup_ms", &profile.push_setup_ms}}) {
    if (!root.Has(key)) continue;
    TRIBUTARY_ASSIGN_OR_RETURN(*setup, Milliseconds(root, key, "the profile"));
  }
  const auto layers = root.Find("layers");
  if (!layers || !layers->is_list()) return InvalidArgument("the profile has no list 'layers'");
  if (layers->size() == 0) return InvalidArgument("the profile has no layers; there is nothing to plan");
  if (layers->size() > kMostProfileLayers) {
    return ResourceExhausted(
        fmt::format("the profile has {} layers; at most {} are planned", layers->size(), kMostProfileLayers));
  }
  for (std::size_t i = 0; i < layers->size(); ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(TransferProfile::Layer layer, ReadLayer((*layers)[i], i));
    profile.layers.push_back(std::move(layer));
  }
  return profile;
}

std::string FormatTransferProfile(const TransferProfile& profile) {
  Json root;
  if (profile.pull_setup_ms == profile.push_setup_ms) {
    root["setup_ms"] = profile.pull_setup_ms;
  } else {
    root["pull_setup_ms"] = profile.pull_setup_ms;
    root["push_setup_ms"] = profile.push_setup_ms;
  }
  Json layers = Json::array();
  for (const TransferProfile::Layer& layer : profile.layers) {
    Json entry = {{"name", layer.name}};
    for (const auto& [key, time] : kLayerTimes) entry[key] = layer.*time;
    if (layer.bytes > 0) entry["bytes"] = layer.bytes;
    layers.push_back(std::move(entry));
  }
  root["layers"] = std::move(layers);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tributary::inline fleet
