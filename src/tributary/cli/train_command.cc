#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/base/names.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/run_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/saved_network.h"
#include "tributary/device/local_training.h"
#include "tributary/device/setting.h"
#include "tributary/engine/compute.h"
#include "tributary/model/adapt_graph.h"
#include "tributary/model/initialise.h"
#include "tributary/model/model.h"
#include "tributary/onnx/network_file.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace train_command {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model = "cnn";
  std::string stem = "auto";
  DataOptions data;
  std::string augment = "auto";
  LocalTrainingOptions training{.epochs = 8};
  std::optional<double> learning_rate;
  std::optional<double> momentum;
  int threads = 1;
  std::string device = "cpu";
  std::string save;
  std::string tensorboard;
  std::string from;
  bool new_head = false;
  std::vector<std::string> freeze;
  bool json = false;
  bool quiet = false;
};

// Default values per optimiser; flags override them.
void FillDefaults(Arguments& arguments) {
  const bool sgd = arguments.training.optimiser.name == "sgd";
  arguments.training.optimiser.momentum = arguments.momentum.value_or(sgd ? 0.9 : 0.0);
  arguments.training.schedule.learning_rate = arguments.learning_rate.value_or(sgd ? 0.05 : 0.001);
}

Status ReadAugment(Arguments& arguments) {
  const std::vector<std::string> known = {"auto", "none", "standard"};
  if (std::find(known.begin(), known.end(), arguments.augment) == known.end()) {
    return UnknownName("augmentation", arguments.augment, known);
  }
  const bool natural_images = arguments.data.name.starts_with("cifar");
  if (arguments.augment == "standard" || (arguments.augment == "auto" && natural_images)) {
    arguments.training.augment = {.flip = true, .padding = 4};
  }
  return OkStatus();
}

// Where an interrupted run is saved without --save.
std::filesystem::path RescuePath(const std::string& name) { return name + "-interrupted.safetensors"; }

std::string Percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

void PrintEpoch(const EpochSummary& epoch, int epochs) {
  std::printf("epoch %*d/%d  loss %.4f  train %s  test %s  %s samples/s\n",
              epochs >= 100  ? 3
              : epochs >= 10 ? 2
                             : 1,
              epoch.epoch, epochs, epoch.train_loss, Percent(epoch.train_accuracy).c_str(),
              Percent(epoch.test.accuracy).c_str(),
              FormatThousands(static_cast<std::int64_t>(epoch.samples_per_second)).c_str());
  std::fflush(stdout);
}

void WriteEpoch(TensorBoardFile& board, const EpochSummary& epoch, WallTime now) {
  const std::vector<TensorBoardScalar> scalars = {{"train_loss", epoch.train_loss},
                                                  {"train_accuracy", epoch.train_accuracy},
                                                  {"loss", epoch.test.loss},
                                                  {"accuracy", epoch.test.accuracy},
                                                  {"learning_rate", epoch.learning_rate},
                                                  {"samples_per_second", epoch.samples_per_second}};
  board.Scalars(epoch.epoch, now, scalars);
}

Json ResultJson(const Arguments& arguments, const Model& model, const LocalTrainingResult& result,
                double seconds, const std::string& saved) {
  Json epochs = Json::array();
  for (const EpochSummary& epoch : result.epochs) {
    epochs.push_back({{"epoch", epoch.epoch},
                      {"learning_rate", epoch.learning_rate},
                      {"train_loss", epoch.train_loss},
                      {"train_accuracy", epoch.train_accuracy},
                      {"test_loss", epoch.test.loss},
                      {"test_accuracy", epoch.test.accuracy},
                      {"samples_per_second", epoch.samples_per_second}});
  }
  Json json = {{"model", model.graph.name()},
               {"data", arguments.data.name},
               {"parameters", TotalParameters(model.costs)},
               {"seed", arguments.training.seed},
               {"threads", arguments.threads},
               {"steps", result.steps},
               {"seconds", seconds},
               {"interrupted", result.interrupted},
               {"test_accuracy", nullptr},
               {"epochs", epochs}};
  if (!result.epochs.empty()) json["test_accuracy"] = result.epochs.back().test.accuracy;
  if (!saved.empty()) json["saved"] = saved;
  return json;
}

StatusOr<std::optional<NetworkFile>> ReadBrought(const Arguments& arguments) {
  const bool onnx = IsOnnxName(arguments.model);
  if (onnx && !arguments.from.empty()) {
    return InvalidArgument("--model " + arguments.model + " brings weights of its own; leave out --from");
  }
  const std::string& path = onnx ? arguments.model : arguments.from;
  if (path.empty() && arguments.new_head)
    return InvalidArgument(
        "--new-head is only valid with weights to start from: --from, or --model FILE.onnx");
  if (path.empty()) return std::optional<NetworkFile>();
  TRIBUTARY_ASSIGN_OR_RETURN(NetworkFile file, ReadNetworkFile(path));
  return std::optional(std::move(file));
}

Status Run(Arguments arguments) {
  FillDefaults(arguments);
  TRIBUTARY_RETURN_IF_ERROR(ReadAugment(arguments));
  TRIBUTARY_ASSIGN_OR_RETURN(arguments.training.executor.device, FindTorchDevice(arguments.device));
  if (!arguments.save.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.save));
  SavedNetwork network;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<NetworkFile> brought, ReadBrought(arguments));
  network.zoo.name = IsOnnxName(arguments.model) ? brought->graph->name() : arguments.model;
  TRIBUTARY_ASSIGN_OR_RETURN(network.zoo.stem, ParseStem(arguments.stem));
  // Reports a wrong name before the data are read.
  if (!IsOnnxName(arguments.model)) TRIBUTARY_RETURN_IF_ERROR(BuildZooGraph(network.zoo).status());

  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(arguments.data));
  network.zoo.input = data.train.shape();
  network.zoo.classes = data.train.classes();
  network.data = arguments.data.name;
  network.normalisation = data.train.normalisation();
  network.class_names = data.train.class_names();
  if (IsOnnxName(arguments.model)) {
    TRIBUTARY_ASSIGN_OR_RETURN(Graph fitted, FitToData(*brought->graph, data.train.shape(),
                                                       data.train.classes(), arguments.new_head));
    network.zoo.imported = std::make_shared<const Graph>(std::move(fitted));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(network.zoo));
  auto whole = std::make_shared<const Model>(std::move(graph));
  FlatWeights initial{FlatBuffer(whole->parameters.size), FlatBuffer(whole->statistics.size)};
  InitialiseWeights(*whole, arguments.training.seed, initial.parameters.span(), initial.statistics.span());
  if (brought) {
    TRIBUTARY_RETURN_IF_ERROR(brought->weights.CopyTo(
        *whole, initial.parameters.span(), initial.statistics.span(), {.new_head = arguments.new_head}));
  }
  auto start = FreezeLayers({std::move(whole), std::move(initial)}, arguments.freeze);
  if (!start.ok()) return std::move(start).status().WithContext("--freeze");
  const std::shared_ptr<const Model>& model = start->model;
  FlatBuffer& parameters = start->weights.parameters;
  FlatBuffer& statistics = start->weights.statistics;

  SetComputeThreads(arguments.threads);
  const bool talk = !arguments.json && !arguments.quiet;
  if (talk) {
    Say("Training {} ({} parameters, {} MACs a sample) on {}: {} training and {} test samples, {} threads\n",
        network.zoo.name, FormatThousands(TotalParameters(model->costs)),
        FormatCount(static_cast<double>(TotalMacs(model->costs).value)), arguments.data.name,
        FormatThousands(static_cast<std::int64_t>(data.train.size())),
        FormatThousands(static_cast<std::int64_t>(data.test.size())), arguments.threads);
    std::fflush(stdout);
  }
  std::unique_ptr<TensorBoardFile> board;
  const WallClock wall_clock = SystemWallClock();
  if (!arguments.tensorboard.empty()) {
    const std::string name =
        fmt::format("{}-{}-{}", network.zoo.name,
                    std::filesystem::path(arguments.data.name).filename().string(), arguments.training.seed);
    TRIBUTARY_ASSIGN_OR_RETURN(
        board, TensorBoardFile::Create(FreeTensorBoardFolder(arguments.tensorboard, name), wall_clock()));
  }
  const auto clock = MakeRealClock();
  const auto total =
      static_cast<std::uint64_t>(data.train.size()) * static_cast<std::uint64_t>(arguments.training.epochs);
  Progress progress(*clock, stderr,
                    {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(stderr),
                     .total = total,
                     .unit = "samples"});
  const InterruptGuard interrupt;
  LocalTrainingObserver observer;
  observer.should_stop = [&] { return interrupt.interrupted(); };
  observer.on_step = [&](std::uint64_t samples, int epoch, double loss) {
    progress.Update(samples, fmt::format("epoch {}/{}, loss {:.4f}", epoch, arguments.training.epochs, loss));
  };
  observer.on_epoch = [&](const EpochSummary& epoch) {
    progress.Clear();
    if (talk) PrintEpoch(epoch, arguments.training.epochs);
    if (board) WriteEpoch(*board, epoch, wall_clock());
  };
  TRIBUTARY_ASSIGN_OR_RETURN(
      const LocalTrainingResult result,
      TrainLocally(arguments.training, model, data, parameters.span(), statistics.span(), *clock, observer));
  progress.Clear();
  const double seconds = ToSeconds(clock->Now());
  if (const Status closed = board ? board->Close() : OkStatus(); !closed.ok()) {
    Say(stderr, "tributary: the files for TensorBoard are not complete: {}\n", closed.message());
  }

  std::string save = arguments.save;
  if (save.empty() && result.interrupted && result.steps > 0) save = RescuePath(network.zoo.name).string();
  if (!save.empty()) {
    TRIBUTARY_RETURN_IF_ERROR(
        WriteNetworkFile(save, *model, parameters.span(), statistics.span(), ToMetadata(network)));
  }
  if (arguments.json) return PrintJson(ResultJson(arguments, *model, result, seconds, save));
  if (result.interrupted) {
    Say("interrupted after {} steps\n", result.steps);
  } else {
    Say("test accuracy {} in {}\n", Percent(result.epochs.back().test.accuracy),
        FormatDuration(FromSeconds(seconds)));
  }
  if (!save.empty()) {
    Say("saved {}; continue with --from {}, or: tributary evaluate {}\n", save, save, save);
  }
  return OkStatus();
}

void AddTrainingOptions(CLI::App& command, Arguments& a) {
  OptimiserOptions& optimiser = a.training.optimiser;
  ScheduleOptions& schedule = a.training.schedule;
  schedule.name = "cosine";
  optimiser.weight_decay = 5e-4;
  AddDefaulted(command, "--epochs", a.training.epochs, "Passes over the training data")
      ->check(CLI::Range(1, 1'000'000));
  AddDefaulted(command, "--batch", a.training.batch, "Samples per step")->check(CLI::Range(1, 1'000'000));
  AddDefaulted(command, "--optimiser", optimiser.name, "sgd or adam");
  AddOption(command, "--lr", a.learning_rate, "Learning rate; by default 0.05 for sgd, 0.001 for adam");
  AddOption(command, "--momentum", a.momentum, "sgd: momentum; by default 0.9");
  command.add_flag("--nesterov", optimiser.nesterov, "sgd: Nesterov momentum");
  AddDefaulted(command, "--weight-decay", optimiser.weight_decay, "Weight decay (L2 penalty)");
  AddDefaulted(command, "--schedule", schedule.name, "Learning-rate schedule: constant, step or cosine");
  AddOption(command, "--milestones", schedule.milestones,
            "step: steps at which the rate is multiplied by --factor")
      ->delimiter(',');
  AddDefaulted(command, "--factor", schedule.factor, "step: factor of the learning rate at each milestone");
  AddDefaulted(command, "--lr-floor", schedule.floor, "cosine: learning rate at the end");
  AddDefaulted(command, "--warmup", schedule.warmup_steps, "Steps of linear warm-up");
  AddDefaulted(command, "--label-smoothing", a.training.label_smoothing, "Label smoothing");
  AddDefaulted(command, "--augment", a.augment,
               "standard (mirror and shift by up to 4 pixels), none, or auto: standard for cifar");
}

}  // namespace train_command

void AddTrainCommand(CLI::App& app, Action& action) {
  using namespace train_command;
  auto [command, a] = AddCommand(app, action, Run, "train", "Train a network on this machine alone");
  AddDefaulted(command, "--model", a.model,
               "Network to train: a name ('tributary models'), or FILE.onnx with its weights");
  AddStemOption(command, a.stem);
  AddDefaulted(
      command, "--data", a.data.name,
      "Data set, or a folder with X.npy and y.npy, with pictures or with recordings; see 'tributary data'");
  AddFolderOptions(command, a.data);
  AddOption(command, "--train-limit", a.data.train_limit, "Limit the number of training samples");
  AddOption(command, "--test-limit", a.data.test_limit, "Limit the number of test samples");
  AddTrainingOptions(command, a);
  AddDefaulted(command, "--seed", a.training.seed,
               "Same seed, machine and threads: the same weights, bit for bit");
  AddThreadsOption(command, a.threads);
  AddTorchDeviceOption(command, a.device);
  AddOption(command, "--save FILE.safetensors|FILE.onnx", a.save, "Write the trained network to this file");
  AddOption(command, "--from FILE.safetensors|FILE.onnx", a.from, "Start from these weights (PyTorch names)");
  AddOption(command, "--freeze LAYER,…", a.freeze,
            "Layers, or modules of layers, that keep their weights, e.g. conv1,layer1")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--new-head", a.new_head,
                   "Re-initialise the last layer, for other classes than those of the weights");
  AddTensorBoardOption(command, a.tensorboard);
  AddJsonFlag(command, a.json);
  command.add_flag("--quiet", a.quiet, "Print the result only");
  command.footer(
      "Ctrl-C stops after the current step and saves to --save or MODEL-interrupted.safetensors.\n"
      "Examples:\n"
      "  tributary train --model resnet8 --data glyphs --epochs 3 --save m.safetensors\n"
      "  tributary train --model pretrained.onnx --new-head --data ./photos --lr 0.01 --save tuned.onnx\n"
      "  tributary train --model cnn --data fashion-mnist --data-dir ~/data --epochs 5");
}

}  // namespace tributary::inline cli
