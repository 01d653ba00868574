#include <nlohmann/json.hpp>

#include "tributary/base/names.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/experiment/presets.h"

namespace tributary::inline cli {
namespace presets_command {

struct Arguments {
  std::string name;
  bool json = false;
};

Status ListAll(bool json) {
  TextTable table({"name", "what it is"});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Preset& preset : ListPresets()) {
    table.AddRow({preset.name, preset.about});
    list.push_back({{"name", preset.name}, {"about", preset.about}});
  }
  TRIBUTARY_RETURN_IF_ERROR(PrintList(json, list, table));
  if (!json) std::puts("\n'tributary run NAME' runs a preset, 'tributary presets NAME' prints its file.");
  return OkStatus();
}

Status Print(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : ListPresets()) {
    if (preset.name == name) {
      std::fwrite(preset.text.data(), 1, preset.text.size(), stdout);
      return OkStatus();
    }
    names.push_back(preset.name);
  }
  return UnknownName("preset", name, names);
}

Status Run(const Arguments& arguments) {
  return arguments.name.empty() ? ListAll(arguments.json) : Print(arguments.name);
}

}  // namespace presets_command

void AddPresetsCommand(CLI::App& app, Action& action) {
  using namespace presets_command;
  auto [command, a] = AddCommand(app, action, Run, "presets", "List the built-in experiments, or print one");
  AddOption(command, "name", a.name, "Preset to print");
  AddJsonFlag(command, a.json);
  command.footer("Example:\n  tributary presets fedavg > mine.toml && tributary run ./mine.toml");
}

}  // namespace tributary::inline cli
