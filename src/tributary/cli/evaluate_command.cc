#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/fitted_network.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/load.h"
#include "tributary/data/npy.h"
#include "tributary/data/saved_network.h"
#include "tributary/device/evaluation.h"
#include "tributary/engine/compute.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace evaluate_command {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string file;
  std::string model;
  std::string stem;
  DataOptions data{.name = ""};
  std::string scores;
  int threads = 1;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;
};

// The file's metadata, overridden by the arguments.
StatusOr<SavedNetwork> Describe(const Arguments& arguments, const NetworkFile& file) {
  TRIBUTARY_ASSIGN_OR_RETURN(SavedNetwork network, NetworkIn(file));
  if (!arguments.model.empty()) network.zoo.name = arguments.model;
  if (!arguments.stem.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(network.zoo.stem, ParseStem(arguments.stem));
  }
  if (!arguments.data.name.empty()) network.data = arguments.data.name;
  if (network.zoo.name.empty()) {
    return InvalidArgument(arguments.file + " does not say which network it holds; name it with --model");
  }
  if (network.data.empty()) {
    return InvalidArgument(arguments.file + " does not name its training data; give a data set with --data");
  }
  return network;
}

Status WriteScores(const std::string& path, Executor& executor, const Dataset& test) {
  constexpr std::size_t kBatch = 64;
  const Graph& graph = executor.model().graph;
  const auto elements = static_cast<std::size_t>(test.shape().elements());
  std::vector<float> scores, inputs;
  for (std::size_t first = 0; first < test.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, test.size() - first);
    inputs.resize(count * elements);
    for (std::size_t i = 0; i < count; ++i)
      test.Read(first + i, std::span(inputs).subspan(i * elements, elements));
    TRIBUTARY_ASSIGN_OR_RETURN(const auto rows, executor.Predict(inputs, graph.size() - 1));
    scores.insert(scores.end(), rows.begin(), rows.end());
  }
  const std::size_t sides[] = {test.size(), static_cast<std::size_t>(graph.classes())};
  return WriteNpy(path, sides, scores);
}

Status Run(const Arguments& arguments) {
  if (!arguments.scores.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.scores));
  TRIBUTARY_ASSIGN_OR_RETURN(const TorchDevice device, FindTorchDevice(arguments.device));
  TRIBUTARY_ASSIGN_OR_RETURN(const NetworkFile file, ReadNetworkFile(arguments.file));
  TRIBUTARY_ASSIGN_OR_RETURN(const SavedNetwork network, Describe(arguments, file));
  DataOptions options = arguments.data;
  options.name = network.data;
  // By default, images and recordings are converted to the network's input, with its classes.
  if (options.classes.empty() && options.name.find('/') != std::string::npos)
    options.classes = network.class_names;
  if (network.zoo.input && options.images.height == 0) {
    options.images = {static_cast<std::size_t>(network.zoo.input->height),
                      static_cast<std::size_t>(network.zoo.input->width),
                      network.zoo.input->channels == 1 ? ImageColour::kGrey : ImageColour::kColour};
  }
  if (network.zoo.input && options.sensors.windows.length == WindowOptions().length) {
    options.sensors.windows.length = static_cast<std::size_t>(network.zoo.input->width);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadData(options));
  TRIBUTARY_ASSIGN_OR_RETURN(FittedNetwork fitted, FitNetwork(arguments.file, file.weights, network,
                                                              options.name, std::move(data.test)));
  const Dataset& test = fitted.data;

  SetComputeThreads(arguments.threads);
  const auto clock = MakeRealClock();
  Progress progress(*clock, stderr,
                    {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(stderr),
                     .total = test.size(),
                     .unit = "samples"});
  Executor executor(fitted.model, {fitted.parameters.span(), fitted.statistics.span(), {}},
                    {.device = device});
  TRIBUTARY_ASSIGN_OR_RETURN(const Evaluation result, Evaluate(executor, test, [&](std::size_t samples) {
                               progress.Update(samples, "evaluating");
                               return true;
                             }));
  progress.Clear();
  if (!arguments.scores.empty()) TRIBUTARY_RETURN_IF_ERROR(WriteScores(arguments.scores, executor, test));
  const double rate = static_cast<double>(result.samples) / ToSeconds(clock->Now());
  if (arguments.json) {
    return PrintJson({{"file", arguments.file},
                      {"model", network.zoo.name},
                      {"data", network.data},
                      {"samples", result.samples},
                      {"accuracy", result.accuracy},
                      {"loss", result.loss},
                      {"class_names", test.class_names()},
                      {"samples_per_second", rate}});
  }
  Say("{} on {}: accuracy {:.2f} %, loss {:.4f} over {} test samples ({} samples/s)\n", network.zoo.name,
      network.data, 100 * result.accuracy, result.loss,
      FormatThousands(static_cast<std::int64_t>(result.samples)),
      FormatThousands(static_cast<std::int64_t>(rate)));
  return OkStatus();
}

}  // namespace evaluate_command

void AddEvaluateCommand(CLI::App& app, Action& action) {
  using namespace evaluate_command;
  auto [command, a] = AddCommand(app, action, Run, "evaluate", "Evaluate saved weights on a test set");
  AddOption(command, "file FILE.safetensors|FILE.onnx", a.file,
            "A network with its weights: written by 'tributary train --save' or a run, or ONNX")
      ->required();
  AddOption(command, "--model", a.model, "Network in the file; by default as the file says");
  AddOption(command, "--stem", a.stem, "First layers: auto, cifar or imagenet; by default as the file says");
  AddOption(command, "--data", a.data.name, "Data set; by default the training data set");
  AddFolderOptions(command, a.data);
  AddOption(command, "--test-limit", a.data.test_limit, "Limit the number of test samples");
  AddOption(command, "--scores FILE.npy", a.scores,
            "Write the scores of all classes, one row per test sample");
  AddThreadsOption(command, a.threads);
  AddTorchDeviceOption(command, a.device);
  AddJsonFlag(command, a.json);
  command.add_flag("--quiet", a.quiet, "Print the result only");
  command.footer(
      "Examples:\n  tributary evaluate m.safetensors --data-dir ~/data\n"
      "  tributary evaluate network.onnx --data ./photos --scores scores.npy");
}

}  // namespace tributary::inline cli
