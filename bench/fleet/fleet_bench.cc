// Overhead of a real fleet over moving its bytes, with mutual TLS on loopback:
//   bytes   a round of 8 devices with 10 M parameters and no local work, against the same bytes over bare
//           gRPC streams; alternating, ratio of the medians
//   memory  the coordinator's peak with 64 devices against 8: 25 M parameters, sync-sgd with momentum
//   many    20 rounds of 500 connected devices, which then come back to a coordinator that was killed
// Devices are load generators: they follow the protocol exactly but do not train. Coordinator and devices run
// in separate processes.

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "../timing.h"
#include "child.h"
#include "role.h"
#include "tributary/engine/compute.h"
#include "tributary/keys/authority.h"

namespace tributary::bench {
namespace {

constexpr double kMegabyte = 1e6;

struct Options {
  Role role;
  std::string only;
  int repeats = 7;
  std::size_t many = 500;
  int many_rounds = 20;
  bool check = false;
};

struct Round {
  double seconds = 0;
  std::size_t devices = 0;
  double cpu_seconds = 0;  // of both processes
};

struct Memory {
  double before = 0;  // bytes
  double peak = 0;
};

// The two processes of a pair.
class Pair {
 public:
  static StatusOr<std::unique_ptr<Pair>> Start(Role role, const char* dialled, const char* dialling) {
    auto pair = std::unique_ptr<Pair>(new Pair);
    pair->dialled_ = Start(role, dialled);
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string port, pair->dialled_->Hear("port"));
    role.address = pair->address_ = "127.0.0.1:" + port;
    pair->dialling_ = Start(role, dialling);
    TRIBUTARY_RETURN_IF_ERROR(pair->dialled_->Hear("ready").status());
    return pair;
  }

  StatusOr<Round> Go() {
    const double before = CpuSeconds();
    dialled_->Tell("go");
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string text, dialled_->Hear("round"));
    Round round;
    std::sscanf(text.c_str(), "%lf %zu", &round.seconds, &round.devices);
    round.cpu_seconds = CpuSeconds() - before;
    return round;
  }

  // Kills the dialled process and starts another one, to which all connect again.
  Status Replace(Role role, const char* dialled) {
    role.listen = address_;
    dialled_.reset();
    dialled_ = Start(role, dialled);
    TRIBUTARY_RETURN_IF_ERROR(dialled_->Hear("port").status());
    return dialled_->Hear("ready").status();
  }

  double PeakBytes() const { return dialled_->PeakBytes(); }

  StatusOr<Memory> Finish() {
    dialled_->Tell("end");
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string text, dialled_->Hear("memory"));
    Memory memory;
    std::sscanf(text.c_str(), "%lf %lf", &memory.before, &memory.peak);
    TRIBUTARY_RETURN_IF_ERROR(dialled_->Finish());
    TRIBUTARY_RETURN_IF_ERROR(dialling_->Finish());
    return memory;
  }

 private:
  static std::unique_ptr<Child> Start(const Role& role, const char* name) {
    std::vector<std::string> words = {"--role",       name,
                                      "--keys",       role.keys.string(),
                                      "--devices",    std::to_string(role.devices),
                                      "--address",    role.address.empty() ? "none" : role.address,
                                      "--listen",     role.listen,
                                      "--parameters", std::to_string(role.parameters)};
    words.insert(words.end(), {"--spool", role.spool.string()});
    if (role.momentum) words.push_back("--momentum");
    if (role.grpc_defaults) words.push_back("--grpc-defaults");
    return std::make_unique<Child>(words);
  }

  double CpuSeconds() const { return dialled_->CpuSeconds() + dialling_->CpuSeconds(); }

  std::string address_;
  std::unique_ptr<Child> dialled_, dialling_;
};

StatusOr<std::unique_ptr<Pair>> StartFleet(const Role& role) {
  return Pair::Start(role, "coordinator", "devices");
}

// Prints a figure and its target; returns whether it is reached.
bool Judge(const char* what, double figure, double target, const char* unit) {
  const bool reached = figure <= target;
  std::printf("  %-44s %8.3f%s   target <= %.3f%s   %s\n", what, figure, unit, target, unit,
              reached ? "reached" : "MISSED");
  return reached;
}

StatusOr<bool> CompareBytes(const Options& options) {
  Role role = options.role;
  role.devices = 8;
  role.parameters = 10'000'000;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto fleet, StartFleet(role));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bare, Pair::Start(role, "bare-server", "bare-devices"));
  role.grpc_defaults = true;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto plain, Pair::Start(role, "bare-server", "bare-devices"));
  struct Arm {
    const char* name;
    Pair& pair;
    std::vector<double> seconds = {}, cpu_seconds = {};
  };
  Arm arms[] = {{"bare gRPC streams, our settings", *bare},
                {"bare gRPC streams, gRPC's own settings", *plain},
                {"round", *fleet}};
  for (int i = -1; i < options.repeats; ++i) {  // one warm-up
    for (Arm& arm : arms) {
      TRIBUTARY_ASSIGN_OR_RETURN(const Round round, arm.pair.Go());
      if (round.devices != role.devices)
        return Unavailable(std::to_string(round.devices) + " devices were applied");
      if (i < 0) continue;
      arm.seconds.push_back(round.seconds);
      arm.cpu_seconds.push_back(round.cpu_seconds);
    }
  }
  for (Arm& arm : arms) TRIBUTARY_RETURN_IF_ERROR(arm.pair.Finish().status());

  const double megabytes = 2 * 8 * 4 * 10'000'000 / kMegabyte;
  std::printf(
      "a round of 8 devices, 10 M parameters, 40 MB each way, mutual TLS; %d of each, alternating, medians\n",
      options.repeats);
  for (const Arm& arm : arms) {
    const double seconds = Median(arm.seconds);
    std::printf("  %-44s %8.3f s   %5.0f MB/s   processor time %.2f s\n", arm.name, seconds,
                megabytes / seconds, Median(arm.cpu_seconds));
  }
  const auto over_bare = [&](std::vector<double> Arm::*figure) {
    return Median(arms[2].*figure) / std::min(Median(arms[0].*figure), Median(arms[1].*figure));
  };
  std::printf("  %-44s %8.3f\n", "the same in processor time", over_bare(&Arm::cpu_seconds));
  return Judge("round / the faster bare streams", over_bare(&Arm::seconds), 1.5, "");
}

StatusOr<Memory> PeakWith(const Options& options, std::size_t devices) {
  Role role = options.role;
  role.devices = devices;
  role.parameters = 25'000'000;
  role.momentum = true;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto fleet, StartFleet(role));
  for (int i = 0; i < 2; ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Round round, fleet->Go());
    if (round.devices != devices)
      return Unavailable("only " + std::to_string(round.devices) + " devices were applied");
    std::printf("  round of %zu devices: %.2f s\n", devices, round.seconds);
    std::fflush(stdout);
    if (devices > 8) break;  // a second one only takes time
  }
  return fleet->Finish();
}

StatusOr<bool> CompareMemory(const Options& options) {
  std::printf("peak memory of the coordinator's process, 25 M parameters (100 MB), sync-sgd with momentum\n");
  constexpr double kModel = 100;
  TRIBUTARY_ASSIGN_OR_RETURN(const Memory few, PeakWith(options, 8));
  TRIBUTARY_ASSIGN_OR_RETURN(const Memory most, PeakWith(options, 64));
  for (const auto& [devices, memory] : {std::pair(8, few), std::pair(64, most)}) {
    const double before = memory.before / kMegabyte, peak = memory.peak / kMegabyte;
    std::printf(
        "  %2d devices: %.0f MB = weights %.0f + momentum %.0f + 64-bit sum %.0f + program %.0f + rest %.0f"
        " (%.2f a device)\n",
        devices, peak, kModel, kModel, 2 * kModel, before, peak - 4 * kModel - before,
        (peak - 4 * kModel - before) / devices);
  }
  bool reached = Judge("64 devices / 8 devices", most.peak / few.peak, 1.2, "");
  reached &= Judge("64 devices, MB (5 models + 200 MB)", most.peak / kMegabyte, 5 * kModel + 200, "");
  return reached;
}

StatusOr<bool> HoldMany(const Options& options) {
  Role role = options.role;
  role.devices = options.many;
  const auto start = std::chrono::steady_clock::now();
  TRIBUTARY_ASSIGN_OR_RETURN(const auto fleet, StartFleet(role));
  const double joining = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<double> seconds;
  int complete = 0;
  for (int i = 0; i < options.many_rounds; ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Round round, fleet->Go());
    seconds.push_back(round.seconds);
    if (round.devices == role.devices) ++complete;
  }
  const double peak = fleet->PeakBytes();
  const auto killed = std::chrono::steady_clock::now();
  const auto since_killed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - killed).count();
  };
  TRIBUTARY_RETURN_IF_ERROR(fleet->Replace(role, "coordinator"));
  const double back = since_killed();
  TRIBUTARY_ASSIGN_OR_RETURN(const Round first, fleet->Go());
  const double trained = since_killed();
  if (first.devices == role.devices) ++complete;
  TRIBUTARY_ASSIGN_OR_RETURN(const Memory memory, fleet->Finish());
  std::printf("%zu devices that stay connected, %zu parameters, mutual TLS, %d rounds\n", role.devices,
              BuildModel(0)->parameters.size, options.many_rounds);
  std::printf("  joined in %.1f s; a round %.3f s (median), %.3f s (longest)\n", joining, Median(seconds),
              *std::ranges::max_element(seconds));
  std::printf("  peak memory %.0f MB, of which the program %.0f MB: %.0f kB per connection\n",
              peak / kMegabyte, memory.before / kMegabyte,
              (peak - memory.before) / 1e3 / static_cast<double>(role.devices));
  std::printf("  after the coordinator was killed: all back after %.1f s\n", back);
  bool reached = Judge("with a completed round", trained, 60, " s");
  reached &= Judge("rounds in which not all were applied", options.many_rounds + 1 - complete, 0, "");
  return reached;
}

// Keys for the devices of all parts, deleted at the end.
class TemporaryKeys {
 public:
  TemporaryKeys() {
    std::string name = (std::filesystem::temp_directory_path() / "tributary-bench-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~TemporaryKeys() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path keys() const { return folder_ / "keys"; }
  Status Make(std::size_t devices) {
    const std::time_t now = std::time(nullptr);
    TRIBUTARY_RETURN_IF_ERROR(InitAuthority(keys(), {.now = now}));
    for (std::size_t i = 0; i < devices; ++i) {
      TRIBUTARY_RETURN_IF_ERROR(IssueDevice(keys(), DeviceName(i), {.now = now}).status());
    }
    return OkStatus();
  }

 private:
  std::filesystem::path folder_;
};

StatusOr<bool> RunParts(Options options) {
  const auto wants = [&](const char* part) { return options.only.empty() || options.only == part; };
  TemporaryKeys keys;
  TRIBUTARY_RETURN_IF_ERROR(keys.Make(wants("many") ? std::max<std::size_t>(64, options.many) : 64));
  options.role.keys = keys.keys();
  bool reached = true;
  const auto run = [&](const char* name, const auto& part) -> Status {
    if (!wants(name)) return OkStatus();
    TRIBUTARY_ASSIGN_OR_RETURN(const bool good, part(options));
    std::fflush(stdout);
    reached = reached && good;
    return OkStatus();
  };
  TRIBUTARY_RETURN_IF_ERROR(run("bytes", CompareBytes));
  TRIBUTARY_RETURN_IF_ERROR(run("memory", CompareMemory));
  TRIBUTARY_RETURN_IF_ERROR(run("many", HoldMany));
  return reached;
}

Status RunRole(const Role& role) {
  if (role.name == "coordinator") return RunCoordinator(role);
  if (role.name == "devices") return RunLoadDevices(role);
  if (role.name == "bare-server") return RunBareServer(role);
  return RunBareDevices(role);
}

// Each connection needs a file descriptor at both ends.
void AllowManyConnections() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "What a real fleet costs over moving its bytes: time against bare gRPC, memory, many connections.");
  app.option_defaults()->always_capture_default();
  app.add_option("--only", options.only, "One part: bytes, memory or many")
      ->check(CLI::IsMember({"bytes", "memory", "many"}));
  app.add_option("--repeats", options.repeats, "Of what is timed in bytes")->check(CLI::Range(1, 1000));
  app.add_option("--connections", options.many, "In many")->check(CLI::Range(1, 9000));
  app.add_option("--rounds", options.many_rounds, "In many")->check(CLI::Range(1, 100'000));
  app.add_option("--spool", options.role.spool, "Where the coordinator keeps updates on their way");
  app.add_flag("--check", options.check, "Fail if a target is missed");
  // For child processes.
  Role& role = options.role;
  app.option_defaults()->group("");
  app.add_option("--role", role.name)
      ->check(CLI::IsMember({"coordinator", "devices", "bare-server", "bare-devices"}));
  app.add_option("--keys", role.keys);
  app.add_option("--address", role.address);
  app.add_option("--listen", role.listen);
  app.add_option("--devices", role.devices);
  app.add_option("--parameters", role.parameters);
  app.add_flag("--momentum", role.momentum);
  app.add_flag("--grpc-defaults", role.grpc_defaults);
  CLI11_PARSE(app, argc, argv);

  KeepFreedMemory();  // like the program
  AllowManyConnections();
  Status status;
  bool reached = true;
  if (!role.name.empty()) {
    status = RunRole(role);
  } else if (auto outcome = RunParts(options); outcome.ok()) {
    reached = *outcome;
  } else {
    status = outcome.status();
  }
  if (!status.ok()) std::fprintf(stderr, "fleet%s: %s\n", role.name.c_str(), status.message().c_str());
  return status.ok() && (reached || !options.check) ? 0 : 1;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::Main(argc, argv); }
