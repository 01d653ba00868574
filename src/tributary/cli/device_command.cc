#include <random>

#include "tributary/base/file.h"
#include "tributary/base/log.h"
#include "tributary/base/names.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/fleet_options.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/shared_options.h"
#include "tributary/cli/stream_publish.h"
#include "tributary/device/device_runtime.h"
#include "tributary/experiment/quantity.h"
#include "tributary/experiment/trace_file.h"
#include "tributary/fleet/grpc/device_agent.h"

namespace tributary::inline cli {
namespace device_command {

struct Arguments {
  std::string join;
  FleetOptions fleet;
  std::string name;
  std::string coordinator{kCoordinatorName};
  std::string data;
  std::string weights;
  std::filesystem::path data_dir;
  std::filesystem::path state;
  std::string stream;
  std::vector<std::string> broker_settings;
  std::string buffer_memory = "64MB";
  std::string buffer_disk;
  std::string availability;
  std::vector<std::string> allow;
  int threads = 1;
  std::string device = "cpu";
  bool once = false;
  bool leave_when_done = false;
  std::string longest_wait = "30s";
  std::vector<std::string> link_rate;
  std::string advertise;
  std::string listen;
  OwnerLimits limits;
  std::string most_memory;
  std::string most_bytes;
  double most_seconds = ToSeconds(OwnerLimits{}.most_time);
  bool quiet = false;
  bool verbose = false;
  const Extensions* extensions = nullptr;
};

StatusOr<BitsPerSecond> ParseRate(const std::string& text) {
  TRIBUTARY_ASSIGN_OR_RETURN(const double rate, ParseQuantity(text, Unit::kBitsPerSecond));
  constexpr double kSlowest = 1000;  // slower rates take minutes per message
  if (rate < kSlowest) return InvalidArgument("--link-rate is " + text + "; allowed: 1kbit/s and more");
  return BitsPerSecond{rate};
}

// Leaves `bytes` as they are if the flag is not given.
Status ReadBytes(const char* flag, const std::string& text, Bytes& bytes) {
  if (text.empty()) return OkStatus();
  auto parsed = ParseQuantity(text, Unit::kBytes);
  if (!parsed.ok()) return std::move(parsed).status().WithContext(flag);
  if (!(*parsed >= 1)) return InvalidArgument(std::string(flag) + " is " + text + "; allowed: 1B and more");
  bytes = {static_cast<std::int64_t>(std::min(*parsed, 1e18))};
  return OkStatus();
}

Status ReadStreamOptions(const Arguments& arguments, DeviceRuntimeOptions& options) {
  options.extensions = *arguments.extensions;
  if (!arguments.stream.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(options.stream, ParseStreamPlace(arguments.stream, options.extensions));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(options.broker_settings, ParseBrokerSettings(arguments.broker_settings));
  if (const auto* const topic = options.stream ? std::get_if<TopicPlace>(&*options.stream) : nullptr)
    TRIBUTARY_RETURN_IF_ERROR(CheckBrokerSettings(topic->address, options.broker_settings));
  TRIBUTARY_RETURN_IF_ERROR(ReadBytes("--buffer-memory", arguments.buffer_memory, options.buffer_memory));
  return ReadBytes("--buffer-disk", arguments.buffer_disk, options.buffer_disk);
}

Status ReadLimits(const Arguments& arguments, OwnerLimits& limits) {
  limits = arguments.limits;
  limits.most_time = FromSeconds(std::min(arguments.most_seconds, kLongestSeconds));
  TRIBUTARY_RETURN_IF_ERROR(ReadBytes("--most-memory", arguments.most_memory, limits.most_memory));
  return ReadBytes("--most-bytes", arguments.most_bytes, limits.most_bytes);
}

// The last share holds after the end of the trace.
Status ReadAvailabilityTrace(const std::string& path, std::optional<Availability>& availability) {
  if (path.empty()) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<Trace::Step> steps, ReadTraceFile(path));
  auto trace = Trace::Make(std::move(steps), Trace::After::kHold);
  if (!trace.ok()) return std::move(trace).status().WithContext(path);
  TRIBUTARY_ASSIGN_OR_RETURN(availability, Availability::Make(std::move(trace).value(), 1, DeviceId{0}));
  return OkStatus();
}

// The address where other devices reach this one.
Status ReadAdvertised(const Arguments& arguments, AgentOptions& options) {
  if (arguments.advertise.empty()) {
    if (arguments.listen.empty()) return OkStatus();
    return InvalidArgument("--listen is only valid with --advertise, the address for other devices");
  }
  auto advertise = ParsePeerAddress(arguments.advertise);
  if (!advertise.ok()) return std::move(advertise).status().WithContext("--advertise");
  if (!arguments.listen.empty()) {
    auto listen = ParsePeerAddress(arguments.listen);
    if (!listen.ok()) return std::move(listen).status().WithContext("--listen");
    if (advertise->port == 0)
      return InvalidArgument("--advertise names the port where --listen is reached, not 0");
    // Listening without keys shows the model to everyone who can connect.
    TRIBUTARY_RETURN_IF_ERROR(CheckInsecure(arguments.fleet, arguments.listen));
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckInsecure(arguments.fleet, arguments.advertise));
  options.advertise = std::move(advertise).value();
  options.listen = arguments.listen;
  return OkStatus();
}

Status Run(const Arguments& arguments) {
  AgentOptions options;
  options.join = arguments.join.find(':') == std::string::npos ? arguments.join + ":7070" : arguments.join;
  options.coordinator = arguments.coordinator;
  TRIBUTARY_ASSIGN_OR_RETURN(const Consent consent, Consent::Parse(arguments.allow));
  if (!arguments.name.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckDeviceName(arguments.name));
  TRIBUTARY_ASSIGN_OR_RETURN(options.credentials,
                             LoadParty(arguments.fleet, "devices/" + arguments.name, options.join));
  if (!options.credentials && arguments.name.empty()) {
    return InvalidArgument("without keys the device needs a unique --name");
  }
  if (options.credentials && !arguments.name.empty() && options.credentials->name != arguments.name) {
    return InvalidArgument("the keys in " + arguments.fleet.keys.string() + " are those of '" +
                           options.credentials->name + "', not of '" + arguments.name + "'");
  }
  options.name = arguments.name;
  options.build = VersionNumber();
  options.once = arguments.once;
  options.leave_when_done = arguments.leave_when_done;
  TRIBUTARY_ASSIGN_OR_RETURN(options.longest_wait, ReadTime("--longest-wait", arguments.longest_wait));
  TRIBUTARY_RETURN_IF_ERROR(ReadAdvertised(arguments, options));
  if (!arguments.link_rate.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(const BitsPerSecond up, ParseRate(arguments.link_rate.front()));
    TRIBUTARY_ASSIGN_OR_RETURN(const BitsPerSecond down, ParseRate(arguments.link_rate.back()));
    options.link_rate = {up, down};
  }
  std::random_device chance;
  options.seed = (std::uint64_t{chance()} << 32) | chance();
  const InterruptGuard interrupt;
  options.stop = [&] { return interrupt.interrupted(); };
  SetUpLog({.least = arguments.verbose ? LogLevel::kDebug
                     : arguments.quiet ? LogLevel::kWarning
                                       : LogLevel::kInfo,
            .times = arguments.verbose});
  options.say = [](const std::string& text) { Log(LogLevel::kInfo, text); };
  const auto clock = MakeRealClock();
  DeviceRuntimeOptions work_options{
      .consent = consent, .data_dir = arguments.data_dir, .threads = arguments.threads, .say = options.say};
  const std::string name = options.credentials ? options.credentials->name : arguments.name;
  work_options.state =
      arguments.state.empty() ? std::filesystem::path("tributary-state") / name : arguments.state;
  if (options.credentials) {
    TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(work_options.state));
    options.revoked = work_options.state / "revoked.pem";
  }
  if (!arguments.data.empty()) work_options.data = arguments.data;
  work_options.weights = arguments.weights;
  TRIBUTARY_ASSIGN_OR_RETURN(work_options.device, FindTorchDevice(arguments.device));
  TRIBUTARY_RETURN_IF_ERROR(ReadLimits(arguments, work_options.limits));
  TRIBUTARY_RETURN_IF_ERROR(ReadStreamOptions(arguments, work_options));
  TRIBUTARY_RETURN_IF_ERROR(ReadAvailabilityTrace(arguments.availability, work_options.availability));
  DeviceRuntime work(std::move(work_options), *clock);
  return RunDevice(options, work);
}

}  // namespace device_command

void AddDeviceCommand(CLI::App& app, Action& action) {
  using namespace device_command;
  auto [command, a] =
      AddCommand(app, action, Run, "device", "Take part in a coordinator's run with this machine's data");
  a.extensions = &action.extensions;
  AddOption(command, "--join HOST[:PORT]", a.join, "The coordinator; port 7070 when not given")->required();
  AddFleetOptions(command, a.fleet);
  AddOption(command, "--name", a.name, "Name of this device; with keys, the device whose keys to use");
  AddDefaulted(command, "--coordinator", a.coordinator, "Name that the coordinator's certificate must have");
  AddOption(command, "--data DIR", a.data,
            "Folder with the device's own samples: X.npy and y.npy, pictures, or recordings; without it, its "
            "part of the experiment's data set");
  AddDataDirOption(command, a.data_dir);
  AddOption(command, "--weights FILE.safetensors|FILE.onnx", a.weights,
            "Initial weights, for experiments that freeze layers: frozen weights are not sent");
  AddOption(command, "--state DIR", a.state,
            "Folder for state that survives a crash; by default tributary-state/NAME");
  AddOption(command, "--availability FILE.csv", a.availability,
            "For devices that choose sub-networks: share of the processors over "
            "time, with a line 'seconds,share' for each change; measured when not given");
  AddOption(command, "--stream WHERE", a.stream,
            "Train on samples as they arrive, from kafka://HOST[:PORT]/TOPIC or mqtt://HOST[:PORT]/TOPIC, or "
            "on the device's own at a rate, replay:25");
  AddOption(
      command, "--broker-setting NAME=VALUE", a.broker_settings,
      "Setting of the broker's library, e.g. security.protocol=ssl (Kafka), username=me, password=@FILE, "
      "cafile=FILE (MQTT)")
      ->allow_extra_args(false);
  AddDefaulted(command, "--buffer-memory BYTES", a.buffer_memory,
               "Memory for waiting samples; further ones go to --state if the experiment keeps all samples");
  AddOption(command, "--buffer-disk BYTES", a.buffer_disk,
            "Limit for waiting samples in --state; by default the free disk space");
  AddOption(command, "--allow WHAT,…", a.allow,
            "What may leave this device besides model updates: activations, labels, label-counts, samples")
      ->delimiter(',')
      ->allow_extra_args(false);
  constexpr const char* kLimits = "What the coordinator may ask of this device";
  AddDefaulted(command, "--least-batch N", a.limits.least_batch,
               "Refuse batches smaller than N: the update of a few samples can reveal them")
      ->check(CLI::PositiveNumber)
      ->group(kLimits);
  AddDefaulted(command, "--most-steps N", a.limits.most_steps, "Refuse assignments of more steps")
      ->check(CLI::PositiveNumber)
      ->group(kLimits);
  AddOption(
      command, "--most-memory BYTES", a.most_memory,
      "Refuse networks and batches whose estimated training memory is larger; default: this machine's memory")
      ->group(kLimits);
  AddOption(command, "--most-parameters N", a.limits.most_parameters,
            "Refuse networks with more parameters; default: as many as fit in memory")
      ->check(CLI::PositiveNumber)
      ->group(kLimits);
  AddDefaulted(command, "--most-seconds N", a.most_seconds, "Give up a round whose training takes longer")
      ->check(CLI::PositiveNumber)
      ->group(kLimits);
  AddOption(command, "--most-bytes BYTES", a.most_bytes,
            "Refuse rounds that transfer more, to and from this device; default: as much as it takes")
      ->group(kLimits);
  AddOption(command, "--advertise HOST:PORT", a.advertise,
            "Address of this device for other devices that exchange models (train.method = "
            "\"gossip\"); port 0 selects a free port. Without it the coordinator relays the models");
  AddOption(command, "--listen HOST:PORT", a.listen,
            "Address to listen on; by default the advertised port on all addresses");
  AddThreadsOption(command, a.threads);
  AddTorchDeviceOption(command, a.device);
  command.add_flag(
      "--once", a.once,
      "Take part in one round and exit, e.g. from cron; fails if no coordinator answers within a minute");
  command.add_flag("--leave-when-done", a.leave_when_done,
                   "Exit when the run is over instead of waiting for the next one");
  AddDefaulted(command, "--longest-wait TIME", a.longest_wait,
               "Longest time between attempts to reach the coordinator");
  AddOption(command, "--link-rate RATE[,RATE]", a.link_rate,
            "For testing: limit the rate to and from the coordinator, e.g. 10Mbit/s")
      ->delimiter(',')
      ->expected(1, 2)
      ->allow_extra_args(false);
  CLI::Option* const quiet = command.add_flag("--quiet", a.quiet, "Print warnings and errors only");
  AddVerboseFlag(command, a.verbose)->excludes(quiet);
  command.footer(
      "Ctrl-C exits immediately. The coordinator repeats the device's work when it returns, or continues "
      "without it if the quorum allows.\n"
      "Examples:\n"
      "  tributary device --join coordinator.local --keys pi-1\n"
      "  tributary device --join coordinator.local --keys pi-1 --advertise pi-1.local:7071\n"
      "  tributary device --join coordinator.local --keys pi-1 --stream mqtt://gateway.local/sensors/pi-1 "
      "\\\n"
      "    --broker-setting cafile=gateway.pem --broker-setting username=pi-1 --broker-setting password=@pw\n"
      "  tributary device --join 127.0.0.1 --insecure --name pi-1");
}

}  // namespace tributary::inline cli
