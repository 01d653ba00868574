// What protection from hostile devices costs.
//   1. Rounds over 64 simulated devices with the limits of [trust], against the same rounds without limits. Alternating in one
//      process; medians.
//   2. The trimmed mean of 64 updates of 10 million parameters, in a child process: time, and peak memory beyond that of the
//      process before it.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/engine/compute.h"
#include "tributary/experiment/presets.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/update_journal.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Seconds;

constexpr std::size_t kUpdates = 64;

Experiment RoundsOf64(const std::vector<std::string>& trust) {
  std::vector<std::string> settings = {
      "experiment.rounds=3",
      "experiment.evaluate-every=3",
      "data.train-limit=6400",
      "data.test-limit=10",
      "fleet.group=[{name=\"all\", count=64, compute=\"1G\", uplink=\"10Mbit/s\"}]",
      "train={method=\"sync-sgd\", batch=32, learning-rate=0.05}"};
  settings.insert(settings.end(), trust.begin(), trust.end());
  return FindExperiment("smoke", settings).value();
}

void CompareRounds(int repeats) {
  const Experiment limited = RoundsOf64({});
  const Experiment unlimited = RoundsOf64({"trust.largest-share=0", "trust.clip=0"});
  std::string digest;
  const auto time = [&](const Experiment& experiment) {
    return Seconds([&] {
      const auto run = Simulate(experiment, {.threads = 2});
      TRIBUTARY_CHECK(run.ok() && (digest.empty() || run->digest == digest));
      digest = run->digest;
    });
  };
  std::vector<double> with_s, without_s;
  for (int i = -1; i < repeats; ++i) {  // one warm-up
    // Each first in turn, since the second finds warmer caches.
    const bool first = i % 2 == 0;
    const double a = time(first ? limited : unlimited);
    const double b = time(first ? unlimited : limited);
    if (i < 0) continue;
    with_s.push_back(first ? a : b);
    without_s.push_back(first ? b : a);
  }
  std::printf("cnn, 64 devices, 3 rounds: no limits %6.3f s   limits %6.3f s   ratio %.4f (target 1.02)\n",
              Median(without_s), Median(with_s), Median(with_s) / Median(without_s));
}

// A field of /proc/self/status, in bytes: VmRSS, VmHWM.
double MemoryBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == field + ":" && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

void MeasureTrimmedMean(const std::filesystem::path& spool) {
  GraphBuilder builder("wide", Shape{1, 100, 100});
  const NodeIndex flat = builder.Add("flatten", Flatten{}, {0});
  builder.Add("fc", Linear{1000}, {flat});
  const Model model(std::move(builder).Build().value());
  const std::size_t size = model.parameters.size;
  const double bytes = static_cast<double>(size) * sizeof(float);

  const auto rule = std::ranges::find(AggregationRules(), "trimmed-mean", &AggregationRule::name);
  const DropoutOptions dropout;
  const std::vector<double> trim = {0.2};
  UpdateJournal journal(spool);
  const double before = MemoryBytes("VmRSS");
  // A coordinator has the model, of which one update is made here, and makes the next.
  std::vector<float> values(size), result(size);
  Rng rng(1);
  for (float& value : values) value = static_cast<float>(Uniform(rng, -1, 1));
  const auto aggregate = (*rule)->make({model, journal, dropout, 1, trim}).value();
  aggregate->Begin(kUpdates);
  double taking = 0;
  for (std::uint64_t i = 0; i < kUpdates; ++i) {
    const UpdatePiece piece{UpdatePart::kParameters, 0, values, 1};
    taking += Seconds([&] { TRIBUTARY_CHECK(aggregate->Take(WorkId{i}, std::span(&piece, 1)).ok()); });
    // The next update has the same values in other places.
    std::ranges::rotate(values, values.begin() + 12'345);
  }
  const double reporting = Seconds(
      [&] { TRIBUTARY_CHECK(aggregate->Report(UpdatePart::kParameters, 0, std::span(result)).ok()); });
  const double peak = MemoryBytes("VmHWM") - before;
  std::printf(
      "trimmed mean, 64 updates of %.1f M parameters: stored in %.2f s, aggregated in %.2f s; peak memory "
      "%.1f MB "
      "= %.2f models (target: 2, plus the blocks of %.1f MB)\n",
      static_cast<double>(size) * 1e-6, taking, reporting, peak * 1e-6, peak / bytes,
      static_cast<double>(kUpdates) * (16384 * sizeof(float) + 65536) * 1e-6);
}

// In a child, so that what was measured before leaves no trace.
void InChild(const char* program, const char* spool) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program, program, "--trimmed-mean", spool, static_cast<char*>(nullptr));
    std::_Exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  TRIBUTARY_CHECK(status == 0);
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  using namespace tributary;
  KeepFreedMemory();
  SetComputeThreads(1);
  if (argc == 3 && std::string(argv[1]) == "--trimmed-mean") {
    MeasureTrimmedMean(argv[2]);
    return 0;
  }
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 15;
  if (repeats < 1) {
    std::fprintf(stderr, "usage: trust [repeats [SPOOL]]\n");
    return 2;
  }
  CompareRounds(repeats);
  InChild(argv[0], argc > 2 ? argv[2] : "/tmp");
}
