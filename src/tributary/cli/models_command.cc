#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/model_report.h"
#include "tributary/cli/models_files.h"
#include "tributary/cli/shared_options.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string name;
  std::string input;
  std::optional<std::int64_t> classes;
  std::string stem = "auto";
  bool json = false;
};

StatusOr<Model> Build(const Arguments& arguments, const std::string& name) {
  ZooOptions options{.name = name, .input = {}, .classes = arguments.classes};
  if (!arguments.input.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(options.input, ParseShape(arguments.input));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(options.stem, ParseStem(arguments.stem));
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(options));
  return Model(std::move(graph));
}

Status List(const Arguments& arguments) {
  TextTable table({"name", "parameters", "MACs", "input", "classes", "what it is"});
  Json list = Json::array();
  for (const ZooEntry& entry : Zoo()) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Model model, Build(arguments, entry.name));
    const std::int64_t parameters = TotalParameters(model.costs);
    const std::int64_t macs = TotalMacs(model.costs).value;
    const Shape& input = model.graph.input_shape();
    table.AddRow({entry.name, FormatThousands(parameters), FormatCount(static_cast<double>(macs)),
                  FormatShape(input), std::to_string(model.graph.classes()), entry.description});
    list.push_back({{"name", entry.name},
                    {"input", ShapeJson(input)},
                    {"classes", model.graph.classes()},
                    {"parameters", parameters},
                    {"macs", macs},
                    {"description", entry.description}});
  }
  if (arguments.json) {
    PrintJson(list);
  } else {
    std::fputs(table.Format().c_str(), stdout);
  }
  return OkStatus();
}

Status Run(const Arguments& arguments) {
  if (arguments.name.empty()) return List(arguments);
  TRIBUTARY_ASSIGN_OR_RETURN(const Model model, Build(arguments, arguments.name));
  if (arguments.json) {
    PrintJson(ModelJson(model));
  } else {
    PrintModel(model);
  }
  return OkStatus();
}

}  // namespace

void AddModelsCommand(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "models", "List the built-in networks, show one's layers and costs, import and export");
  command->require_subcommand(0, 1);
  command->add_option("name", arguments->name, "Network to show; without it, all are listed");
  command->add_option("--input", arguments->input, "Shape of a sample: channels x height x width")
      ->type_name("CxHxW");
  command->add_option("--classes", arguments->classes, "Number of classes");
  AddStemOption(*command, arguments->stem);
  AddJsonFlag(*command, arguments->json);
  command->footer(
      "MACs are multiply-accumulates of convolutions and linear layers for one sample; bytes are those of a "
      "layer's\n"
      "float32 output; 'cut' says whether the network can be split right after the layer (one tensor "
      "crosses).\n"
      "Example:\n  tributary models resnet18 --input 3x32x32 --classes 10");
  command->callback([arguments, &action] {
    if (!action) action = [arguments] { return Run(*arguments); };
  });
  AddModelsImport(*command, action);
  AddModelsExport(*command, action);
}

}  // namespace tributary
