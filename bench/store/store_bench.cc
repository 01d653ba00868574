// The cost of recording a run.
//   1. The same simulated run of 1,000 devices with and without a StoreSink, alternating in one process;
//      ratios of the medians of elapsed time and of processor time, including the store's thread. Timing ends
//      with the training; closing the store is timed separately.
//   2. The cost of passing one event, on the training thread.
//
//   build/release/bench/store [repeats] [rounds]    repeats 0 skips the first

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../timing.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/store/run_store.h"
#include "tributary/store/store_sink.h"

namespace tributary {
namespace {

using bench::Median;

constexpr std::uint64_t kDevices = 1000;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double ProcessorTime() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Costs {
  std::vector<double> time, processors;
};

// The smallest network with one sample per device and round: as little training as possible per event.
Experiment Tiny(int rounds) {
  const std::vector<std::string> overrides = {"model.name=mlp",
                                              "data.train-limit=4000",
                                              "fleet.group.slow.count=500",
                                              "fleet.group.fast.count=500",
                                              "train.batch=4",
                                              "train.local-steps=1",
                                              "experiment.evaluate-every=10",
                                              "experiment.rounds=" + std::to_string(rounds)};
  auto experiment = FindExperiment("smoke", overrides);
  if (!experiment.ok()) std::fprintf(stderr, "%s\n", experiment.status().message().c_str());
  return std::move(experiment).value();
}

void Measure(Costs& costs, const Experiment& experiment, EventSink* sink) {
  SimulationOptions options;
  options.threads = 2;
  options.watcher = sink;
  const double time = Now(), processors = ProcessorTime();
  TRIBUTARY_CHECK(Simulate(experiment, options).ok());
  costs.time.push_back(Now() - time);
  costs.processors.push_back(ProcessorTime() - processors);
}

void CompareRuns(const std::filesystem::path& store, int repeats, int rounds) {
  const Experiment experiment = Tiny(rounds);
  Costs without, with, first;
  Measure(first, experiment, nullptr);
  std::vector<double> closing;
  for (int i = 0; i < repeats; ++i) {
    Measure(without, experiment, nullptr);
    auto sink = StoreSink::Create({.store = store, .name = "bench"}).value();
    Measure(with, experiment, sink.get());
    const double start = Now();
    TRIBUTARY_CHECK(sink->Close().ok());
    closing.push_back(Now() - start);
  }
  std::printf("%llu devices, %d rounds, %d pairs: without %.3f s, with the store %.3f s, ratio %.3f\n",
              static_cast<unsigned long long>(kDevices), rounds, repeats, Median(without.time),
              Median(with.time), Median(with.time) / Median(without.time));
  std::printf("processors' time: without %.3f s, with %.3f s, ratio %.3f; closing takes %.0f ms\n",
              Median(without.processors), Median(with.processors),
              Median(with.processors) / Median(without.processors), 1e3 * Median(closing));
  const auto opened = RunStore::Open(store).value();
  const RunRecord run = opened->Find("last").value();
  std::printf("recorded: %llu rounds, %zu devices, %llu events missed; the file has %.1f MB after %d runs\n",
              static_cast<unsigned long long>(run.rounds), opened->Devices(run.id).value().size(),
              static_cast<unsigned long long>(run.missed_events),
              1e-6 * static_cast<double>(std::filesystem::file_size(store)), repeats);
}

void TimeEvents(const std::filesystem::path& store) {
  auto sink = StoreSink::Create({.store = store, .name = "events"}).value();
  sink->Write({Duration(0), RunStarted{.devices = kDevices}});
  // As many events as fit into the queue, with pauses in which it is emptied.
  std::vector<double> costs;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    const double start = Now();
    for (std::uint64_t device = 0; device < kDevices; ++device) {
      sink->Write({Duration(0), DeviceFinished{.round = {round}, .device = {device}}});
    }
    costs.push_back((Now() - start) / kDevices);
    sink->Write({Duration(0), RoundFinished{.round = {round}}});
    ::usleep(20'000);
  }
  TRIBUTARY_CHECK(sink->Close().ok());
  std::printf("handing over an event: %.0f ns\n", 1e9 * Median(costs));
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 5;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 30;
  std::string name = (std::filesystem::temp_directory_path() / "store_bench.XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  if (repeats > 0) tributary::CompareRuns(folder / "runs.sqlite", repeats, rounds);
  tributary::TimeEvents(folder / "events.sqlite");
  std::filesystem::remove_all(folder);
  return 0;
}
