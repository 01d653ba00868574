#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/fitted_network.h"
#include "tributary/cli/shared_options.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline cli {
namespace models_command {

using Json = nlohmann::ordered_json;

Json ShapeJson(const Shape& shape) {
  if (shape.flat) return Json::array({shape.channels});
  return Json::array({shape.channels, shape.height, shape.width});
}

Json ModelJson(const Model& model) {
  Json layers = Json::array();
  for (NodeIndex i = 1; i < model.graph.size(); ++i) {
    const Node& node = model.graph.node(i);
    const NodeCost& cost = model.costs[i];
    layers.push_back({{"name", node.name},
                      {"kind", KindName(node.operation)},
                      {"output", ShapeJson(model.graph.shape(i))},
                      {"parameters", cost.parameters},
                      {"macs", cost.macs.value},
                      {"bytes", cost.output.value},
                      {"cut", static_cast<bool>(model.cuts[i])}});
  }
  return {{"name", model.graph.name()},           {"input", ShapeJson(model.graph.input_shape())},
          {"classes", model.graph.classes()},     {"parameters", TotalParameters(model.costs)},
          {"macs", TotalMacs(model.costs).value}, {"layers", layers}};
}

void PrintModel(const Model& model) {
  TextTable table({"layer", "kind", "output", "parameters", "MACs", "output bytes", "cut"});
  int cuts = 0;
  for (NodeIndex i = 1; i < model.graph.size(); ++i) {
    const Node& node = model.graph.node(i);
    const NodeCost& cost = model.costs[i];
    table.AddRow({node.name, std::string(KindName(node.operation)), FormatShape(model.graph.shape(i)),
                  cost.parameters > 0 ? FormatThousands(cost.parameters) : "",
                  cost.macs.value > 0 ? FormatThousands(cost.macs.value) : "",
                  FormatThousands(cost.output.value), model.cuts[i] ? "yes" : "."});
    cuts += model.cuts[i] ? 1 : 0;
  }
  std::fputs(table.Format().c_str(), stdout);
  Say("\n{} for {} and {} classes: {} parameters ({}), {} MACs a sample,\n"
      "{} transfer units, {} channel groups, {} places to cut\n",
      model.graph.name(), FormatShape(model.graph.input_shape()), model.graph.classes(),
      FormatThousands(TotalParameters(model.costs)), FormatBytes(Bytes{4 * TotalParameters(model.costs)}),
      FormatCount(static_cast<double>(TotalMacs(model.costs).value)), model.units.size(),
      model.channels.groups.size(), cuts);
}

struct ImportArguments {
  std::string file;
  std::string name;
  std::string input;
  std::string save;
  bool json = false;
};

Status Import(const ImportArguments& arguments) {
  OnnxImportOptions options{arguments.name, {}};
  if (!arguments.input.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(options.input, ParseShape(arguments.input));
  }
  if (!arguments.save.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.save));
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxNetwork network, ReadOnnxNetwork(arguments.file, options));
  const Model model(network.graph);
  if (!arguments.save.empty()) {
    SavedNetwork saved;
    auto said = FromMetadata(network.metadata);
    if (said.ok() && *said) saved = **said;  // exported by this program: keep data and normalisation
    const Graph& graph = model.graph;
    saved.zoo = {.name = graph.name(), .input = graph.input_shape(), .classes = graph.classes()};
    saved.zoo.imported = std::make_shared<const Graph>(graph);
    TRIBUTARY_RETURN_IF_ERROR(WriteNetworkFile(arguments.save, model, network.parameters.span(),
                                               network.statistics.span(), ToMetadata(saved)));
  }
  if (arguments.json) {
    Json json = ModelJson(model);
    json["units"] = model.units.size();
    json["channel_groups"] = model.channels.groups.size();
    json["notes"] = network.notes;
    if (!arguments.save.empty()) json["saved"] = arguments.save;
    return PrintJson(json);
  }
  PrintModel(model);
  for (const std::string& note : network.notes) Say("note: {}\n", note);
  if (!arguments.save.empty()) Say("saved {}\n", arguments.save);
  return OkStatus();
}

struct ExportArguments {
  std::string file;
  std::string to;
  std::string model;
  bool json = false;
};

// A file without metadata can hold the weights of the network in --model.
Status Export(const ExportArguments& arguments) {
  if (!IsOnnxName(arguments.to)) {
    return InvalidArgument("'" + arguments.to + "' must end in .onnx");
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.to));
  TRIBUTARY_ASSIGN_OR_RETURN(const NetworkFile file, ReadNetworkFile(arguments.file));
  TRIBUTARY_ASSIGN_OR_RETURN(SavedNetwork network, NetworkIn(file));
  if (!arguments.model.empty()) network.zoo.name = arguments.model;
  if (network.zoo.name.empty()) {
    return InvalidArgument(arguments.file + " does not say which network it holds; name it with --model");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(network.zoo));
  const Model model(std::move(graph));
  FlatBuffer parameters(model.parameters.size), statistics(model.statistics.size);
  TRIBUTARY_RETURN_IF_ERROR(file.weights.CopyTo(model, parameters.span(), statistics.span()));
  network.zoo.input = model.graph.input_shape();
  network.zoo.classes = model.graph.classes();
  TRIBUTARY_RETURN_IF_ERROR(
      WriteNetworkFile(arguments.to, model, parameters.span(), statistics.span(), ToMetadata(network)));
  if (arguments.json) {
    return PrintJson({{"model", model.graph.name()},
                      {"parameters", TotalParameters(model.costs)},
                      {"input", ShapeJson(model.graph.input_shape())},
                      {"classes", model.graph.classes()},
                      {"saved", arguments.to}});
  }
  Say("{}: {} for samples of {}, normalised as the network was trained; scores of {} classes, without "
      "softmax\n",
      arguments.to, model.graph.name(), FormatShape(model.graph.input_shape()), model.graph.classes());
  return OkStatus();
}

void AddModelsImport(CLI::App& models, Action& action) {
  auto [command, a] = AddCommand(models, action, Import, "import",
                                 "Check an ONNX file and show the network that will be trained");
  AddOption(command, "file FILE.onnx", a.file, "A classifier as PyTorch or Keras (tf2onnx) exports it")
      ->required();
  AddOption(command, "--name", a.name, "Name of the network; by default that of the file");
  AddOption(command, "--input CxHxW", a.input, "Shape of a sample, where the file leaves it open");
  AddOption(command, "--save FILE.safetensors", a.save,
            "Write the network with its weights for 'train --from', 'evaluate' or PyTorch");
  AddJsonFlag(command, a.json);
  command.footer(
      "An experiment names the file itself: [model] onnx = \"FILE.onnx\" (docs/models.md).\n"
      "Supported operators: " +
      OnnxOperators() +
      ".\n"
      "Example:\n  tributary models import resnet18.onnx");
}

void AddModelsExport(CLI::App& models, Action& action) {
  auto [command, a] = AddCommand(models, action, Export, "export", "Write a trained network as an ONNX file");
  AddOption(command, "file FILE.safetensors", a.file, "Weights written by 'tributary train --save' or a run")
      ->required();
  AddOption(command, "to FILE.onnx", a.to, "The file to write")->required();
  AddOption(command, "--model", a.model, "Network in the file; without it, what the file says");
  AddJsonFlag(command, a.json);
  command.footer(
      "Its input is 'input', batch x channels x height x width; its output 'scores', batch x classes.\n"
      "Example:\n  tributary models export runs/a/weights.safetensors a.onnx");
}

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
  for (const NetworkKind& entry : Zoo()) {
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
  return PrintList(arguments.json, list, table);
}

Status Run(const Arguments& arguments) {
  if (arguments.name.empty()) return List(arguments);
  TRIBUTARY_ASSIGN_OR_RETURN(const Model model, Build(arguments, arguments.name));
  if (arguments.json) return PrintJson(ModelJson(model));
  PrintModel(model);
  return OkStatus();
}

}  // namespace models_command

void AddModelsCommand(CLI::App& app, Action& action) {
  using namespace models_command;
  auto [command, a] = AddCommand(app, action, Run, "models",
                                 "List built-in networks, show layers and costs, import and export");
  command.require_subcommand(0, 1);
  AddOption(command, "name", a.name, "Network to show; by default all are listed");
  AddOption(command, "--input CxHxW", a.input, "Shape of a sample: channels x height x width");
  AddOption(command, "--classes", a.classes, "Number of classes");
  AddStemOption(command, a.stem);
  AddJsonFlag(command, a.json);
  command.footer(
      "MACs are multiply-accumulates of convolutions and linear layers for one sample; bytes are those of a "
      "layer's\n"
      "float32 output; 'cut' says whether the network can be split right after the layer (one tensor "
      "crosses).\n"
      "Example:\n  tributary models resnet18 --input 3x32x32 --classes 10");
  AddModelsImport(command, action);
  AddModelsExport(command, action);
}

}  // namespace tributary::inline cli
