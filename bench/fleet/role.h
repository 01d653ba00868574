#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"
#include "tributary/model/model.h"

namespace tributary::bench {

// The benchmark's processes: a side that is dialled, with the clock, and a side that dials. Each pair is a coordinator
// with its load generators, or the two ends of bare streams.
//
// The dialled side writes "port N" on standard output as soon as it listens and "ready" when everybody is there. For
// every line "go" on its standard input it moves the model once to everybody and back, and writes "round SECONDS
// DEVICES", those that count. At the end of its input it writes "memory BEFORE PEAK", in bytes: before there was
// anything to hold, and the most it ever had.
struct Role {
  std::string name;
  std::filesystem::path keys;            // the authority's folder
  std::string address;                   // to dial
  std::filesystem::path spool = "/tmp";  // for the coordinator's updates on their way
  std::size_t devices = 1;
  std::int64_t parameters = 0;  // of the hand-made network; 0 takes the smallest of the zoo
  bool momentum = false;        // sync-sgd with momentum instead of federated without a server optimiser
  bool grpc_defaults = false;   // bare streams with gRPC's own settings instead of ours
};

// The name of the device with that number, as its keys have it.
std::string DeviceName(std::size_t number);
StatusOr<Credentials> DeviceKeys(const Role& role, std::size_t number);

std::shared_ptr<const Model> BuildModel(std::int64_t parameters);

// Waits for "go": false at the end of standard input.
bool AwaitGo();
void SayRound(double seconds, std::size_t devices);
void SayMemory(std::int64_t before);
// Of this process, from /proc/self/status: VmRSS, VmHWM.
std::int64_t ProcessBytes(const std::string& field);

Status RunCoordinator(const Role& role);
Status RunLoadDevices(const Role& role);
Status RunBareServer(const Role& role);
Status RunBareDevices(const Role& role);

}  // namespace tributary::bench
