#include <nlohmann/json.hpp>

#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/experiment/compatibility.h"

namespace tributary::inline cli {
namespace compatibility_command {

nlohmann::ordered_json PairsOf(const Decision& decision) {
  nlohmann::ordered_json pairs;
  for (const MethodChoice& method : MethodChoices()) {
    const std::vector<std::string> settings = PairSettings(method, decision);
    const auto read = ReadPair(settings);
    nlohmann::ordered_json pair = {{"allowed", read.ok()}, {"settings", settings}};
    if (!read.ok()) pair["why"] = read.status().message();
    pairs[std::string(method.name)] = pair;
  }
  return pairs;
}

Status PrintCompatibility(bool json) {
  if (!json) {
    std::fputs(FormatCompatibility().c_str(), stdout);
    return OkStatus();
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Decision& decision : Decisions()) {
    list.push_back({{"topic", decision.topic},
                    {"about", decision.about},
                    {"settings", decision.settings},
                    {"given", decision.given},
                    {"methods", PairsOf(decision)}});
  }
  return PrintJson({{"experiment", PairExperiment()}, {"decisions", list}});
}

}  // namespace compatibility_command

void AddCompatibilityCommand(CLI::App& app, Action& action) {
  using namespace compatibility_command;
  auto [command, json] = AddCommand(app, action, PrintCompatibility, "compatibility",
                                    "Show which options work with which training methods");
  AddJsonFlag(command, json);
  command.footer("Example:\n  tributary compatibility | less");
}

}  // namespace tributary::inline cli
