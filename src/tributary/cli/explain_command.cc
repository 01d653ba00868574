#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/experiment/explain.h"

namespace tributary::inline cli {
namespace {

void PrintOne(const KeyInfo& key) {
  std::printf("%s\n  %s\n\n  value    %s\n", key.path.c_str(), key.doc.c_str(), key.allowed.c_str());
  if (!key.usual.empty()) std::printf("  default  %s\n", key.usual.c_str());
  std::printf("  valid    %s\n", key.valid.empty() ? "always" : ("only with " + key.valid).c_str());
  if (key.example.empty()) return;
  const std::size_t dot = key.path.rfind('.');
  const std::string name = dot == std::string::npos ? key.path : key.path.substr(dot + 1);
  std::printf("  example  %s = %s\n", name.c_str(), key.example.c_str());
}

Status Explain(const std::string& path, bool json) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<KeyInfo> keys,
                             path.empty() ? StatusOr<std::vector<KeyInfo>>(ExplainKeys()) : ExplainKey(path));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  TextTable table({"key", "what it is"});
  for (const KeyInfo& key : keys) {
    list.push_back({{"key", key.path},
                    {"about", key.doc},
                    {"value", key.allowed},
                    {"default", key.usual},
                    {"only_with", key.valid},
                    {"example", key.example}});
    table.AddRow({key.path, key.doc});
  }
  if (json) {
    PrintJson(list);
  } else if (keys.size() == 1) {
    PrintOne(keys.front());
  } else {
    std::fputs(table.Format().c_str(), stdout);
    std::puts("\n'tributary explain KEY' says what one of them takes.");
  }
  return OkStatus();
}

}  // namespace

void AddExplainCommand(CLI::App& app, Action& action) {
  auto key = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("explain", "List the keys of an experiment file, or explain one");
  command->add_option("key", *key, "Key or section, like train.batch");
  AddJsonFlag(*command, *json);
  command->footer("Example:\n  tributary explain train.local-steps");
  command->callback([key, json, &action] { action = [key, json] { return Explain(*key, *json); }; });
}

void AddSchemaCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "schema", "Print the JSON Schema of experiment files, for editors that complete and check them");
  command->footer(
      "Example:\n  tributary schema > experiment.schema.json   # beside a file that begins with\n"
      "                                              # #:schema ./experiment.schema.json");
  command->callback([&action] {
    action = [] {
      std::fputs(FormatSchema().c_str(), stdout);
      return OkStatus();
    };
  });
}

}  // namespace tributary::inline cli
