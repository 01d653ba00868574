#include "tributary/experiment/overrides.h"

#include <algorithm>
#include <vector>

#include "tributary/base/names.h"
#include "tributary/base/parse_number.h"
#include "tributary/experiment/options.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {
namespace {

constexpr std::size_t kLongestSetting = 10'000;

void Mark(Value& value, const std::string& setting) {
  value.place = {.line = 0, .setting = setting};
  if (auto* list = std::get_if<List>(&value.content)) {
    for (Value& item : *list) Mark(item, setting);
  } else if (auto* table = std::get_if<Table>(&value.content)) {
    for (KeyValue& member : *table) Mark(member.value, setting);
  }
}

StatusOr<Value> ParseValue(std::string_view text, const std::string& setting) {
  if (text.find_first_of("\n\r") != std::string_view::npos) return InvalidArgument("a value is on one line");
  auto parsed = ParseDocument("value = " + std::string(text), "value");
  const bool bare = std::string_view("[{\"'").find(text.front()) == std::string_view::npos;
  if (!parsed.ok() && bare) parsed = ParseDocument("value = " + Quoted(text), "value");
  if (!parsed.ok()) return InvalidArgument("the value is neither TOML nor a plain text");
  Value value = std::move(std::get<Table>(parsed->root.content).front().value);
  // A long setting is truncated, so that the message stays readable.
  Mark(value, setting.size() <= 80 ? setting : setting.substr(0, 80) + "…");
  return value;
}

StatusOr<std::vector<std::string>> SplitKey(std::string_view key) {
  std::vector<std::string> names(1);
  for (const char c : key) {
    if (c == '.') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  constexpr std::size_t kDeepest = 8;
  for (const std::string& name : names) {
    if (name.empty()) return InvalidArgument("a key is names with dots between them, like train.batch=32");
  }
  if (names.size() > kDeepest) return InvalidArgument("no key is nested as deeply");
  return names;
}

StatusOr<Value*> FindInList(List& list, const std::string& name) {
  std::size_t index = 0;
  if (ParseExactly(name, index)) {
    if (index < list.size()) return &list[index];
    return InvalidArgument("there is no number " + name + "; the list has " + std::to_string(list.size()) +
                           (list.size() == 1 ? " element" : " elements") + ", counted from 0");
  }
  std::vector<std::string> known;
  for (Value& item : list) {
    const auto* table = std::get_if<Table>(&item.content);
    const Value* own = table == nullptr ? nullptr : FindMember(*table, kNameKey);
    const auto* text = own == nullptr ? nullptr : std::get_if<std::string>(&own->content);
    if (text == nullptr) continue;
    if (*text == name) return &item;
    known.push_back(*text);
  }
  if (known.empty())
    return InvalidArgument("elements of a list are named by their number from 0, found '" + name + "'");
  return UnknownName("element", name, known);
}

// The value at this path. Creates missing tables with the place `made`; without `made` returns null.
StatusOr<Value*> Reach(Value& root, std::span<const std::string> path, const Place* made) {
  Value* at = &root;
  std::string walked;
  for (const std::string& name : path) {
    if (auto* list = std::get_if<List>(&at->content)) {
      TRIBUTARY_ASSIGN_OR_RETURN(at, FindInList(*list, name));
    } else if (auto* table = std::get_if<Table>(&at->content)) {
      auto member = std::ranges::find(*table, name, &KeyValue::key);
      if (member == table->end() && made == nullptr) return static_cast<Value*>(nullptr);
      if (member == table->end()) member = table->insert(member, {name, Value{Table{}, *made}});
      at = &member->value;
    } else {
      return InvalidArgument(walked + " is " + Describe(*at) + " and has no '" + name + "' in it");
    }
    walked += (walked.empty() ? "" : ".") + name;
  }
  return at;
}

Status TakeOut(Value& root, std::span<const std::string> path, TakingOut taking_out) {
  const auto holder = Reach(root, path.first(path.size() - 1), nullptr);
  auto* table = holder.ok() && *holder != nullptr ? std::get_if<Table>(&(*holder)->content) : nullptr;
  const auto named = [&](const KeyValue& member) { return member.key == path.back(); };
  const bool found = table != nullptr && std::erase_if(*table, named) > 0;
  if (found || taking_out == TakingOut::kLenient) return OkStatus();
  return InvalidArgument("a setting without a value removes its key, which the experiment does not have");
}

Status Apply(Value& root, const std::string& setting, TakingOut taking_out) {
  if (setting.size() > kLongestSetting) return InvalidArgument("a setting may have 10,000 characters");
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) return InvalidArgument("a setting is KEY=VALUE, like train.batch=32");
  TRIBUTARY_ASSIGN_OR_RETURN(const auto path, SplitKey(std::string_view(setting).substr(0, equals)));
  if (equals + 1 == setting.size()) return TakeOut(root, path, taking_out);
  TRIBUTARY_ASSIGN_OR_RETURN(Value value, ParseValue(std::string_view(setting).substr(equals + 1), setting));
  TRIBUTARY_ASSIGN_OR_RETURN(Value * at, Reach(root, path, &value.place));
  *at = std::move(value);
  return OkStatus();
}

}  // namespace

Status ApplyOverrides(Document& document, std::span<const std::string> settings, TakingOut taking_out) {
  for (const std::string& setting : settings) {
    Status status = Apply(document.root, setting, taking_out);
    if (!status.ok()) return std::move(status).WithContext("--set " + setting.substr(0, 80));
  }
  return OkStatus();
}

}  // namespace tributary::inline experiment
