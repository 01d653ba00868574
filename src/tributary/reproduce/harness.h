#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/result_file.h"

namespace tributary::inline reproduce {

// Makes one run. kCancelled means that it was asked to stop and gave up; any other failure ends the
// reproduction. `grid` are the results of the arms of a grid with the first seed, in the order of the arms; it is empty
// while these are made. Called from several threads at once, with different runs.
using ArmRunner =
    std::function<StatusOr<Measurement>(const Arm& arm, std::uint64_t seed, std::span<const ArmResult> grid)>;

inline constexpr std::uint64_t kFirstSeed = 1;

struct HarnessProgress {
  enum class Event {
    kReused,    // The result was there already.
    kStarted,   // The run begins now.
    kFinished,  // The run is over and its result is on disk.
  };

  Event event = Event::kStarted;
  std::string arm;
  std::uint64_t seed = 0;
  std::size_t done = 0;  // Runs with a result, reused ones included.
  std::size_t total = 0;
  // How long the runs that are not done will take, by the durations of runs of the same arm where there are
  // any and of all arms where not. Unknown until one has finished, now or in an earlier attempt.
  std::optional<Duration> left;
};

// A part of the runs: every `count`-th, from the `index`-th on, which counts from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

struct HarnessOptions {
  std::filesystem::path out;         // Created when it does not exist.
  std::vector<std::uint64_t> seeds;  // At least one, all different; with a grid, kFirstSeed is one of them.
  std::size_t threads = 1;           // Runs at the same time. Results do not depend on it.
  // Only this part is run. The grid's runs with the first seed are part of every shard, as all others may need them.
  Shard shard;
  // Where not empty, nothing is run: all results are taken from these folders, each the `out` of a shard, and from
  // `out`, and kept there.
  std::vector<std::filesystem::path> merge;
  // Each may be empty. `should_stop` is asked before every run. `notice` gets whole sentences for a person:
  // results that cannot be used, numbers that are not finite.
  std::function<bool()> should_stop;
  std::function<void(const HarnessProgress&)> progress;
  std::function<void(const std::string&)> notice;
};

struct HarnessOutcome {
  std::vector<ArmResult> results;  // In the order of the runs; fewer than `total` when stopped.
  std::size_t total = 0;
  bool stopped = false;
};

// Runs every arm with every seed: first the arms of a grid, then all arms with the first seed, then all with the second,
// so that a reproduction stopped early can already be compared.
//
// Every finished run is kept in OUT/results. Before anything runs, the results found there are read; one that
// is whole and has the arm's fingerprint is used, any other is reported and its run made again. So a call
// that was stopped, or died, is continued by calling again. What is there but belongs to no arm and seed is
// left alone.
//
// Being stopped is an outcome, not a failure. Fails when the reproduction or the seeds make no sense, when
// OUT cannot be written (before the first run), and with the runner's failure, named after its arm and seed. Merging
// fails when a run is missing, and when two folders have different results of the same run.
StatusOr<HarnessOutcome> RunReproduction(const Reproduction& reproduction, const HarnessOptions& options,
                                         const Clock& clock, const ArmRunner& run);

}  // namespace tributary::inline reproduce
