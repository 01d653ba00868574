#include "tributary/base/json_reader.h"

#include <nlohmann/json.hpp>

namespace tributary::inline base {
namespace {

using Node = nlohmann::json;

const Node& NodeOf(const std::shared_ptr<const void>& node) { return *static_cast<const Node*>(node.get()); }

// Type test for Field.
template <bool (Node::*is)() const noexcept>
bool Is(const void* node) {
  return (static_cast<const Node*>(node)->*is)();
}

Status ParseBounded(std::string_view text, const JsonRules& rules, Node& root) {
  bool too_large = false;
  std::int64_t parts = 0;
  const auto watch = [&](int depth, Node::parse_event_t event, Node&) {
    const bool opens =
        event == Node::parse_event_t::array_start || event == Node::parse_event_t::object_start;
    if ((opens && depth >= rules.levels) || ++parts > rules.parts) too_large = true;
    return !too_large;
  };
  try {
    root = rules.levels == 0 ? Node::parse(text, nullptr, /*allow_exceptions=*/false)
                             : Node::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
    if (too_large) {
      const bool counted = rules.parts != std::numeric_limits<std::int64_t>::max();
      std::string message = "it has more levels of brackets" +
                            std::string(counted ? ", or more parts," : "") + " than " +
                            std::string(rules.what);
      return rules.by_people ? ResourceExhausted(std::move(message)) : Corrupt(std::move(message));
    }
    if (root.is_discarded())
      return rules.by_people ? InvalidArgument("it is not JSON") : Corrupt("it is not valid JSON");
    return OkStatus();
  } catch (const Node::exception& error) {
    return Corrupt(std::string("it is not valid JSON: ") + error.what());
  }
}

}  // namespace

StatusOr<JsonValue> ParseJson(std::string_view text, const JsonRules& rules) {
  Node root;
  TRIBUTARY_RETURN_IF_ERROR(ParseBounded(text, rules, root));
  if (!rules.by_people && !root.is_object()) return Corrupt("it is not a JSON object");
  return JsonValue(std::make_shared<const Node>(std::move(root)), rules.by_people);
}

bool JsonValue::is_object() const { return NodeOf(node_).is_object(); }
bool JsonValue::is_list() const { return NodeOf(node_).is_array(); }
bool JsonValue::is_text() const { return NodeOf(node_).is_string(); }
bool JsonValue::is_number() const { return NodeOf(node_).is_number(); }
bool JsonValue::is_null() const { return NodeOf(node_).is_null(); }

std::optional<JsonValue> JsonValue::Find(std::string_view key) const {
  const Node& object = NodeOf(node_);
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  return Inner(&*found);
}

StatusOr<JsonValue> JsonValue::Field(std::string_view key, Kind kind, std::string_view wanted) const {
  const std::string quoted = "'" + std::string(key) + "'";
  const auto fault = by_people_ ? InvalidArgument : Corrupt;
  const auto found = Find(key);
  if (!found) return fault((name_.empty() ? "it" : name_) + " has no " + quoted);
  if (kind(found->node_.get())) return *found;
  return fault((name_.empty() ? "its " : name_ + ": ") + quoted + " is " +
               (by_people_ ? found->Shown() + ", " : "") + "not " + std::string(wanted));
}

StatusOr<JsonValue> JsonValue::Object(std::string_view key) const {
  return Field(key, Is<&Node::is_object>, "an object");
}

StatusOr<JsonValue> JsonValue::List(std::string_view key) const {
  return Field(key, Is<&Node::is_array>, "a list");
}

StatusOr<std::string> JsonValue::Text(std::string_view key) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue value, Field(key, Is<&Node::is_string>, "a text"));
  return value.text();
}

StatusOr<double> JsonValue::Number(std::string_view key) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue value, Field(key, Is<&Node::is_number>, "a number"));
  return value.number();
}

StatusOr<std::uint64_t> JsonValue::Count(std::string_view key, std::string_view wanted) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue value, Field(key, Is<&Node::is_number_unsigned>, wanted));
  return *value.count();
}

template <typename T>
StatusOr<std::vector<T>> JsonValue::NumbersOf(std::string_view key, Kind kind) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue list, List(key));
  std::vector<T> numbers;
  for (const Node& item : NodeOf(list.node_)) {
    if (!kind(&item)) {
      return by_people_ ? InvalidArgument("its '" + std::string(key) + "' has " + Inner(&item).Shown() +
                                          " in it, not a number")
                        : Corrupt("its '" + std::string(key) + "' is not a list of numbers");
    }
    numbers.push_back(item.get<T>());
  }
  return numbers;
}

StatusOr<std::vector<double>> JsonValue::Numbers(std::string_view key) const {
  return NumbersOf<double>(key, Is<&Node::is_number>);
}

StatusOr<std::vector<std::int64_t>> JsonValue::Integers(std::string_view key) const {
  return NumbersOf<std::int64_t>(key, Is<&Node::is_number_integer>);
}

std::size_t JsonValue::size() const {
  const Node& node = NodeOf(node_);
  return node.is_structured() ? node.size() : 0;
}

JsonValue JsonValue::operator[](std::size_t index) const { return Inner(&NodeOf(node_)[index]); }

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  std::vector<std::pair<std::string, JsonValue>> all;
  for (const auto& item : NodeOf(node_).items()) all.emplace_back(item.key(), Inner(&item.value()));
  return all;
}

std::string JsonValue::text() const { return NodeOf(node_).get<std::string>(); }

double JsonValue::number() const { return NodeOf(node_).get<double>(); }

std::optional<std::uint64_t> JsonValue::count() const {
  const Node& node = NodeOf(node_);
  return node.is_number_unsigned() ? std::optional(node.get<std::uint64_t>()) : std::nullopt;
}

std::string JsonValue::Shown() const {
  const std::string text = NodeOf(node_).dump(-1, ' ', false, Node::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

JsonValue JsonValue::Called(std::string name) const {
  JsonValue called = *this;
  called.name_ = std::move(name);
  return called;
}

}  // namespace tributary::inline base
