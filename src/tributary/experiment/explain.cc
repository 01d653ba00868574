#include "tributary/experiment/explain.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/names.h"
#include "tributary/experiment/options.h"

namespace tributary::inline experiment {
namespace {

using Json = nlohmann::ordered_json;

// The keys of an experiment with one group and one disturbance.
template <typename Use>
auto WithKeys(const Use& use) {
  Experiment experiment;
  experiment.fleet.groups.resize(1);
  experiment.disturbances.resize(1);
  Against against;
  const Extensions none;
  const OptionContext context{std::nullopt, none};
  return use(ExperimentKeys(experiment, against, context));
}

// An example that the schema allows, as TOML: same as JSON, except for tables.
std::string ExampleOf(const Json& schema) {
  if (schema.contains("examples") && !schema["examples"].empty()) return schema["examples"][0].dump();
  if (schema.contains("const")) return schema["const"].dump();
  if (schema.contains("enum")) return schema["enum"].back().dump();
  if (schema.contains("anyOf")) return ExampleOf(schema["anyOf"].back());
  if (schema["type"] == "array") return "[" + ExampleOf(schema["items"]) + "]";
  for (const auto bound : {"minimum", "maximum"}) {
    if (schema.contains(bound)) return schema[bound].dump();
  }
  return "\"text\"";
}

void Explain(const OptionList& list, const std::string& path, std::vector<KeyInfo>& all) {
  for (const Option& option : list.options()) {
    const Allowed allowed = option.form.allowed();
    KeyInfo info{path + std::string(option.key), std::string(option.doc), allowed.words};
    for (const Option::Condition& condition : option.only_with)
      info.valid += (info.valid.empty() ? "" : ", and ") + condition.words;
    if (!option.form.section) {
      const std::string usual = option.form.write();
      info.usual = option.required                   ? "none; it must be given"
                   : !option.otherwise_words.empty() ? std::string(option.otherwise_words)
                   : usual.empty()                   ? "not set"
                                                     : usual;
      info.example = !option.example.empty() ? std::string(option.example)
                     : usual.empty()         ? ExampleOf(Json::parse("{" + allowed.schema + "}"))
                                             : usual;
    }
    // Alternative tables of one key can share a key.
    const auto same = std::ranges::find(all, info.path, &KeyInfo::path);
    if (same != all.end()) {
      same->allowed += " or " + info.allowed;
      same->doc += " " + info.doc;
      continue;
    }
    const std::string inner = info.path + ".";
    all.push_back(std::move(info));
    if (!option.form.tables) continue;
    for (const OptionList& table : option.form.tables()) Explain(table, inner, all);
  }
}

std::string_view LastOf(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string Escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::vector<KeyInfo> Within(std::string_view path) {
  std::vector<KeyInfo> found;
  for (const KeyInfo& info : ExplainKeys()) {
    if (info.path == path || info.path.starts_with(std::string(path) + ".")) found.push_back(info);
  }
  return found;
}

}  // namespace

const std::vector<KeyInfo>& ExplainKeys() {
  static const std::vector<KeyInfo> kAll = WithKeys([](const OptionList& list) {
    std::vector<KeyInfo> all;
    Explain(list, "", all);
    return all;
  });
  return kAll;
}

StatusOr<std::vector<KeyInfo>> ExplainKey(std::string_view path) {
  std::vector<KeyInfo> found = Within(path);
  // A path with the name of a list element, "fleet.group.phones.count".
  for (std::size_t dot = path.find('.'); found.empty() && dot != std::string_view::npos;) {
    const std::size_t end = path.find('.', dot + 1);
    if (end == std::string_view::npos) break;
    found = Within(std::string(path.substr(0, dot)) + std::string(path.substr(end)));
    dot = end;
  }
  if (!found.empty()) return found;
  std::vector<std::string> paths, names;
  for (const KeyInfo& info : ExplainKeys()) {
    if (LastOf(info.path) == path) found.push_back(info);
    paths.push_back(info.path);
    names.emplace_back(LastOf(info.path));
  }
  if (!found.empty()) return found;
  std::string nearest(NearestName(path, paths));
  if (nearest.empty()) nearest = NearestName(LastOf(path), names);
  return InvalidArgument("unknown key '" + std::string(path) + "'; " +
                         (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") +
                         "`tributary explain` lists all keys");
}

std::string FormatKeyTables() {
  std::string text, section;
  for (const KeyInfo& info : ExplainKeys()) {
    if (info.usual.empty()) {
      const std::string name =
          info.allowed.starts_with("a list") ? "[[" + info.path + "]]" : "[" + info.path + "]";
      text +=
          "\n`" + name + "`: " + info.doc + "\n\n| key | value | default | meaning |\n|---|---|---|---|\n";
      section = info.path + ".";
      continue;
    }
    const std::string key = info.path.substr(section.size());
    if (section.empty()) text += "| key | value | default | meaning |\n|---|---|---|---|\n";
    text += "| `" + key + "` | " + Escaped(info.allowed) + " | " + Escaped(info.usual) + " | " +
            Escaped(info.doc) + (info.valid.empty() ? "" : " Only valid with " + Escaped(info.valid) + ".") +
            " |\n";
  }
  return text;
}

std::string FormatSchema() {
  return WithKeys([](const OptionList& list) {
    return Json::parse(
               "{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"title\": \"An experiment of "
               "Tributary\", " +
               list.Schema() + "}")
               .dump(1) +
           "\n";
  });
}

}  // namespace tributary::inline experiment
