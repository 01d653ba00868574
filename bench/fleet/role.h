#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"
#include "tributary/model/model.h"

namespace tributary::bench {

// The benchmark's processes: a listening side, which has the clock, and a connecting side. A pair is a
// coordinator with its load generators, or the two ends of bare streams.
//
// The listening side writes "port N" to standard output once it listens, and "ready" once all devices are
// connected. For each line "go" on standard input it sends the model to every device and back, and writes
// "round SECONDS DEVICES" with the number of applied devices. At the end of input it writes "memory BEFORE
// PEAK" in bytes: at start, and the maximum.
struct Role {
  std::string name;
  std::filesystem::path keys;            // the authority's folder
  std::string address;                   // to connect to
  std::string listen = "127.0.0.1:0";    // of the coordinator
  std::filesystem::path spool = "/tmp";  // for updates that the coordinator stores temporarily
  std::size_t devices = 1;
  std::int64_t parameters = 0;  // of the synthetic network; 0: the smallest built-in one
  bool momentum = false;        // sync-sgd with momentum instead of federated without a server optimiser
  bool grpc_defaults = false;   // bare streams with gRPC's default settings
};

// Name of a device in its keys.
std::string DeviceName(std::size_t number);
StatusOr<Credentials> DeviceKeys(const Role& role, std::size_t number);

std::shared_ptr<const Model> BuildModel(std::int64_t parameters);

// Waits for "go"; false at the end of standard input.
bool AwaitGo();
void SayRound(double seconds, std::size_t devices);
void SayMemory(std::int64_t before);
// A field of /proc/self/status: VmRSS, VmHWM.
std::int64_t ProcessBytes(const std::string& field);

Status RunCoordinator(const Role& role);
Status RunLoadDevices(const Role& role);
Status RunBareServer(const Role& role);
Status RunBareDevices(const Role& role);

}  // namespace tributary::bench
