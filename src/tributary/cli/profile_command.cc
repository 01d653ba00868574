
#include "tributary/base/file.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/device/layer_timing.h"
#include "tributary/engine/compute.h"
#include "tributary/experiment/quantity.h"
#include "tributary/fleet/transfer_profile.h"
#include "tributary/model/zoo.h"

namespace tributary::inline cli {
namespace profile_command {

struct Arguments {
  std::string model;
  std::string input = "3x32x32";
  std::int64_t classes = 10;
  std::string stem = "auto";
  std::size_t batch = 32;
  std::string link = "100Mbit/s";
  std::string setup = "10ms";
  double device_speed = 1;
  int repeats = 5;
  int threads = 1;
  std::string out;
};

Status Run(const Arguments& arguments) {
  if (!arguments.out.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.out));
  TRIBUTARY_ASSIGN_OR_RETURN(const Shape input, ParseShape(arguments.input));
  TRIBUTARY_ASSIGN_OR_RETURN(const Stem stem, ParseStem(arguments.stem));
  TRIBUTARY_ASSIGN_OR_RETURN(const double rate, ParseQuantity(arguments.link, Unit::kBitsPerSecond));
  if (rate <= 0) return InvalidArgument("--link " + arguments.link + ": a link needs a rate above 0");
  TRIBUTARY_ASSIGN_OR_RETURN(const Duration setup, ParseDuration(arguments.setup));
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph({arguments.model, input, arguments.classes, stem}));
  const auto model = std::make_shared<const Model>(std::move(graph));
  const auto clock = MakeRealClock();
  SetComputeThreads(arguments.threads);
  Say(stderr, "measuring {} steps of {}, batches of {} …\n", arguments.repeats, arguments.model,
      arguments.batch);
  TRIBUTARY_ASSIGN_OR_RETURN(const LayerTimes times,
                             MeasureLayers(model, arguments.batch, arguments.repeats, *clock));
  const auto milliseconds = [](Duration time) { return 1000 * ToSeconds(time); };
  TransferProfile profile;
  profile.pull_setup_ms = profile.push_setup_ms = milliseconds(setup);
  for (std::size_t unit = 0; unit < model->units.size(); ++unit) {
    const std::size_t floats = model->parameters.units[unit].count + model->statistics.units[unit].count;
    const auto bytes = static_cast<std::int64_t>(floats * sizeof(float));
    const double transfer = 1000 * 8 * static_cast<double>(bytes) / rate;
    profile.layers.push_back({.name = model->units[unit].name,
                              .pull_ms = transfer,
                              .forward_ms = milliseconds(times.forward[unit]) / arguments.device_speed,
                              .backward_ms = milliseconds(times.backward[unit]) / arguments.device_speed,
                              .push_ms = transfer,
                              .bytes = bytes});
  }
  const std::string text = FormatTransferProfile(profile);
  if (!arguments.out.empty()) return WriteFileAtomically(arguments.out, text);
  std::fputs(text.c_str(), stdout);
  return OkStatus();
}

}  // namespace profile_command

void AddProfileCommand(CLI::App& app, Action& action) {
  using namespace profile_command;
  auto [command, a] =
      AddCommand(app, action, Run, "profile",
                 "Measure the layers of a network on this machine, as a profile for 'tributary plan' (JSON)");
  AddOption(command, "model", a.model, "A network of the zoo (see 'tributary models')")->required();
  AddDefaulted(command, "--input CxHxW", a.input, "Shape of a sample, channels first");
  AddDefaulted(command, "--classes", a.classes, "Number of classes")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  AddStemOption(command, a.stem);
  AddDefaulted(command, "--batch", a.batch, "Samples per step")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65536}));
  AddDefaulted(command, "--link RATE", a.link, "Rate of the link, both ways");
  AddDefaulted(command, "--setup TIME", a.setup, "Set-up time of every transfer");
  AddDefaulted(command, "--device-speed", a.device_speed, "Speed of the device relative to this machine")
      ->check(CLI::Range(1e-6, 1e6));
  AddDefaulted(command, "--repeats", a.repeats, "Number of steps for the median")->check(CLI::Range(1, 1000));
  AddThreadsOption(command, a.threads);
  AddOption(command, "--out FILE", a.out, "Write to this file instead of standard output");
  command.footer(
      "Examples:\n"
      "  tributary profile vgg11 --link 50Mbit/s --setup 5ms --out p.json\n"
      "  tributary profile resnet18 --batch 8 --device-speed 0.1 > pi.json");
}

}  // namespace tributary::inline cli
