#include "tributary/fleet/transfer_profile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/base/names.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 1000;
// Sums of a million of them stay exact enough and far from overflow.
constexpr double kLongestMs = 1e12;

const std::vector<std::string> kLayerKeys = {"name",        "pull_ms", "forward_ms",
                                             "backward_ms", "push_ms", "bytes"};
const std::vector<std::string> kProfileKeys = {"setup_ms", "pull_setup_ms", "push_setup_ms", "layers"};

Status CheckKeys(const Json& object, const std::vector<std::string>& known, const std::string& where) {
  for (const auto& item : object.items()) {
    if (std::ranges::find(known, item.key()) == known.end()) {
      return InvalidArgument(where + ": " + UnknownName("key", item.key(), known).message());
    }
  }
  return OkStatus();
}

std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

StatusOr<double> Milliseconds(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) return InvalidArgument(where + " has no '" + key + "'");
  if (!found->is_number())
    return InvalidArgument(where + ": '" + key + "' is " + Shown(*found) + ", not a number");
  const auto value = found->get<double>();
  if (!(value >= 0 && value <= kLongestMs)) {
    return InvalidArgument(where + ": '" + key + "' is " + Shown(*found) +
                           "; times are finite milliseconds from 0 to 1e12");
  }
  return value;
}

StatusOr<TransferProfile::Layer> ReadLayer(const Json& object, std::size_t index) {
  const std::string where = "layer " + std::to_string(index);
  if (!object.is_object()) return InvalidArgument(where + " is " + Shown(object) + ", not an object");
  TRIBUTARY_RETURN_IF_ERROR(CheckKeys(object, kLayerKeys, where));
  TransferProfile::Layer layer;
  layer.name = std::to_string(index);
  if (const auto name = object.find("name"); name != object.end()) {
    if (!name->is_string()) return InvalidArgument(where + ": 'name' is " + Shown(*name) + ", not a text");
    layer.name = name->get<std::string>().substr(0, kLongestName);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(layer.pull_ms, Milliseconds(object, "pull_ms", where));
  TRIBUTARY_ASSIGN_OR_RETURN(layer.forward_ms, Milliseconds(object, "forward_ms", where));
  TRIBUTARY_ASSIGN_OR_RETURN(layer.backward_ms, Milliseconds(object, "backward_ms", where));
  TRIBUTARY_ASSIGN_OR_RETURN(layer.push_ms, Milliseconds(object, "push_ms", where));
  if (const auto bytes = object.find("bytes"); bytes != object.end()) {
    if (!bytes->is_number_unsigned() || bytes->get<std::uint64_t>() > (std::uint64_t{1} << 50)) {
      return InvalidArgument(where + ": 'bytes' is " + Shown(*bytes) + ", not a whole number of bytes");
    }
    layer.bytes = bytes->get<std::int64_t>();
  }
  return layer;
}

}  // namespace

PassProfile TransferProfile::Forward() const {
  PassProfile profile{pull_setup_ms, {}, {}};
  for (const Layer& layer : layers) {
    profile.transfer.push_back(layer.pull_ms);
    profile.compute.push_back(layer.forward_ms);
  }
  return profile;
}

PassProfile TransferProfile::Backward() const {
  PassProfile profile{push_setup_ms, {}, {}};
  for (const Layer& layer : layers) {
    profile.transfer.push_back(layer.push_ms);
    profile.compute.push_back(layer.backward_ms);
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
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return InvalidArgument("it is not JSON");
  if (!root.is_object())
    return InvalidArgument("it is " + Shown(root) + ", not an object with 'setup_ms' and 'layers'");
  TRIBUTARY_RETURN_IF_ERROR(CheckKeys(root, kProfileKeys, "the profile"));
  TransferProfile profile;
  const bool both = root.contains("pull_setup_ms") && root.contains("push_setup_ms");
  if (root.contains("setup_ms") || !both) {
    TRIBUTARY_ASSIGN_OR_RETURN(profile.pull_setup_ms, Milliseconds(root, "setup_ms", "the profile"));
    profile.push_setup_ms = profile.pull_setup_ms;
  }
  if (root.contains("pull_setup_ms")) {
    TRIBUTARY_ASSIGN_OR_RETURN(profile.pull_setup_ms, Milliseconds(root, "pull_setup_ms", "the profile"));
  }
  if (root.contains("push_setup_ms")) {
    TRIBUTARY_ASSIGN_OR_RETURN(profile.push_setup_ms, Milliseconds(root, "push_setup_ms", "the profile"));
  }
  const auto layers = root.find("layers");
  if (layers == root.end() || !layers->is_array()) return InvalidArgument("the profile has no list 'layers'");
  if (layers->empty()) return InvalidArgument("the profile has no layers; there is nothing to plan");
  if (layers->size() > kMostProfileLayers) {
    return ResourceExhausted("the profile has " + std::to_string(layers->size()) + " layers; at most " +
                             std::to_string(kMostProfileLayers) + " are planned");
  }
  profile.layers.reserve(layers->size());
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
    Json entry = {{"name", layer.name},
                  {"pull_ms", layer.pull_ms},
                  {"forward_ms", layer.forward_ms},
                  {"backward_ms", layer.backward_ms},
                  {"push_ms", layer.push_ms}};
    if (layer.bytes > 0) entry["bytes"] = layer.bytes;
    layers.push_back(std::move(entry));
  }
  root["layers"] = std::move(layers);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tributary
