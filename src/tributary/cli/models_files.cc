#include "tributary/cli/models_files.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/cli/fitted_network.h"
#include "tributary/cli/model_report.h"
#include "tributary/cli/shared_options.h"

namespace tributary {
namespace {

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
    if (said.ok() && *said) saved = **said;  // It was exported here: its data and their normalisation.
    const Graph& graph = model.graph;
    saved.zoo = {.name = graph.name(), .input = graph.input_shape(), .classes = graph.classes()};
    saved.zoo.imported = std::make_shared<const Graph>(graph);
    TRIBUTARY_RETURN_IF_ERROR(WriteNetworkFile(arguments.save, model, network.parameters.span(),
                                               network.statistics.span(), ToMetadata(saved)));
  }
  if (arguments.json) {
    nlohmann::ordered_json json = ModelJson(model);
    json["units"] = model.units.size();
    json["channel_groups"] = model.channels.groups.size();
    json["notes"] = network.notes;
    if (!arguments.save.empty()) json["saved"] = arguments.save;
    PrintJson(json);
    return OkStatus();
  }
  PrintModel(model);
  for (const std::string& note : network.notes) std::printf("note: %s\n", note.c_str());
  if (!arguments.save.empty()) std::printf("saved %s\n", arguments.save.c_str());
  return OkStatus();
}

struct ExportArguments {
  std::string file;
  std::string to;
  std::string model;
  bool json = false;
};

// A file that says nothing of its network can hold the weights of one that is named.
Status Export(const ExportArguments& arguments) {
  if (!IsOnnxName(arguments.to)) {
    return InvalidArgument("'" + arguments.to + "' must be a name that ends in .onnx");
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
    PrintJson({{"model", model.graph.name()},
               {"parameters", TotalParameters(model.costs)},
               {"input", ShapeJson(model.graph.input_shape())},
               {"classes", model.graph.classes()},
               {"saved", arguments.to}});
  } else {
    std::printf(
        "%s: %s for samples of %s, normalised as the network was trained; scores of %lld classes, without "
        "softmax\n",
        arguments.to.c_str(), model.graph.name().c_str(), FormatShape(model.graph.input_shape()).c_str(),
        static_cast<long long>(model.graph.classes()));
  }
  return OkStatus();
}

}  // namespace

void AddModelsImport(CLI::App& models, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command =
      models.add_subcommand("import", "Check an ONNX file, and show the network in it as it will be trained");
  command->add_option("file", arguments->file, "A classifier as PyTorch or Keras (tf2onnx) exports it")
      ->required()
      ->type_name("FILE.onnx");
  command->add_option("--name", arguments->name, "What to call the network; without it, as the file");
  command->add_option("--input", arguments->input, "Shape of a sample, where the file leaves it open")
      ->type_name("CxHxW");
  command
      ->add_option("--save", arguments->save,
                   "Write it with its weights for 'train --from', 'evaluate', or PyTorch")
      ->type_name("FILE.safetensors");
  AddJsonFlag(*command, arguments->json);
  command->footer(
      "An experiment names the file itself: [model] onnx = \"FILE.onnx\" (docs/models.md).\n"
      "Operators that are understood: " +
      OnnxOperators() +
      ".\n"
      "Example:\n  tributary models import resnet18.onnx");
  command->callback([arguments, &action] { action = [arguments] { return Import(*arguments); }; });
}

void AddModelsExport(CLI::App& models, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = models.add_subcommand("export", "Write a trained network as an ONNX file");
  command->add_option("file", arguments->file, "Weights written by 'tributary train --save' or a run")
      ->required()
      ->type_name("FILE.safetensors");
  command->add_option("to", arguments->to, "The file to write")->required()->type_name("FILE.onnx");
  command->add_option("--model", arguments->model, "Network in the file; without it, what the file says");
  AddJsonFlag(*command, arguments->json);
  command->footer(
      "Its input is 'input', batch x channels x height x width; its output 'scores', batch x classes.\n"
      "Example:\n  tributary models export runs/a/weights.safetensors a.onnx");
  command->callback([arguments, &action] { action = [arguments] { return Export(*arguments); }; });
}

}  // namespace tributary
