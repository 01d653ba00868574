#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/experiment/explain.h"

namespace tributary::inline cli {
namespace {

void PrintOne(const KeyInfo& key) {
  Say("{}\n  {}\n\n  value    {}\n", key.path, key.doc, key.allowed);
  if (!key.usual.empty()) Say("  default  {}\n", key.usual);
  Say("  valid    {}\n", key.valid.empty() ? "always" : "only with " + key.valid);
  if (key.example.empty()) return;
  const std::size_t dot = key.path.rfind('.');
  const std::string name = dot == std::string::npos ? key.path : key.path.substr(dot + 1);
  Say("  example  {} = {}\n", name, key.example);
}

struct ExplainArguments {
  std::string key;
  bool json = false;
};

Status Explain(const ExplainArguments& arguments) {
  const std::string& path = arguments.key;
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
  if (arguments.json) return PrintJson(list);
  if (keys.size() == 1) {
    PrintOne(keys.front());
  } else {
    std::fputs(table.Format().c_str(), stdout);
    std::puts("\n'tributary explain KEY' shows the values of a key.");
  }
  return OkStatus();
}

}  // namespace

void AddExplainCommand(CLI::App& app, Action& action) {
  auto [command, a] =
      AddCommand(app, action, Explain, "explain", "List the keys of an experiment file, or explain one");
  AddOption(command, "key", a.key, "Key or section, like train.batch");
  AddJsonFlag(command, a.json);
  command.footer("Example:\n  tributary explain train.local-steps");
}

void AddSchemaCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "schema", "Print the JSON Schema of experiment files, for editors that complete and check them");
  command->footer(
      "Example:\n  tributary schema > experiment.schema.json   # beside a file that begins with\n"
      "                                              # #:schema ./experiment.schema.json");
  command->callback([&action] {
    action.work = [] {
      std::fputs(FormatSchema().c_str(), stdout);
      return OkStatus();
    };
  });
}

}  // namespace tributary::inline cli
