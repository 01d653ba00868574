#include "tributary/experiment/document.h"

#include <algorithm>

// The library's assertions do not hold on every input (a table named "[=" breaks one); the code behind them copes.
// Neither may they abort, nor, where NDEBUG is set, may the compiler take them for granted.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "tributary/experiment/lexical_check.h"
#include "tributary/experiment/quantity.h"

namespace tributary {
namespace {

constexpr int kDeepest = 16;

std::string AtLine(const std::string& name, toml::source_index line) {
  return name + ":" + std::to_string(line) + ": ";
}

StatusOr<Value> Convert(const toml::node& node, const std::string& name, int depth) {
  Value value;
  value.place.line = static_cast<int>(node.source().begin.line);
  if (depth > kDeepest) {
    return InvalidArgument(AtLine(name, node.source().begin.line) + "tables and lists are nested more than " +
                           std::to_string(kDeepest) + " deep");
  }
  if (const auto* flag = node.as_boolean()) {
    value.content = flag->get();
  } else if (const auto* whole = node.as_integer()) {
    value.content = whole->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.content = number->get();
  } else if (const auto* text = node.as_string()) {
    value.content = text->get();
  } else if (const auto* array = node.as_array()) {
    List list;
    for (const toml::node& item : *array) {
      TRIBUTARY_ASSIGN_OR_RETURN(Value converted, Convert(item, name, depth + 1));
      list.push_back(std::move(converted));
    }
    value.content = std::move(list);
  } else if (const auto* table = node.as_table()) {
    Table members;
    for (const auto& [key, item] : *table) {
      TRIBUTARY_ASSIGN_OR_RETURN(Value converted, Convert(item, name, depth + 1));
      members.push_back({std::string(key.str()), std::move(converted)});
    }
    // The library sorts by name; the first mistake a person wants to hear of is the one that comes first in the file.
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return a.value.place.line < b.value.place.line;
    });
    value.content = std::move(members);
  }
  return value;
}

}  // namespace

StatusOr<Document> ParseDocument(std::string_view text, std::string name) {
  if (static_cast<std::int64_t>(text.size()) > kLargestDocument.value) {
    return ResourceExhausted(name + " has " + FormatBytes(Bytes{static_cast<std::int64_t>(text.size())}) +
                             "; an experiment may have " + FormatBytes(kLargestDocument));
  }
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);  // The mark that some editors put before UTF-8.
  TRIBUTARY_RETURN_IF_ERROR(CheckLexically(text, name));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return InvalidArgument(AtLine(name, parsed.error().source().begin.line) +
                           "this is not TOML: " + std::string(parsed.error().description()));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Value root, Convert(parsed.table(), name, 0));
  root.place.line = 1;
  return Document{std::move(name), std::move(root)};
}

std::string Describe(const Value& value) {
  struct {
    std::string operator()(Value::Moment) const { return "a date or time"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return std::to_string(whole); }
    std::string operator()(double number) const { return FormatNumber(number); }
    std::string operator()(const std::string& text) const {
      constexpr std::size_t kLongest = 48;
      return text.size() <= kLongest ? '"' + text + '"' : '"' + text.substr(0, kLongest) + "…\"";
    }
    std::string operator()(const List& list) const { return "a list of " + std::to_string(list.size()); }
    std::string operator()(const Table&) const { return "a table"; }
  } describe;
  return std::visit(describe, value.content);
}

const Value* FindMember(const Table& table, std::string_view key) {
  for (const Member& member : table) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string Prefix(const std::string& document, const Place& place) {
  if (!place.setting.empty()) return "--set " + place.setting + ": ";
  return document + ":" + std::to_string(place.line) + ": ";
}

}  // namespace tributary
