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

// Makes one run. kCancelled means that it was stopped; any other failure ends the reproduction. `grid` has
// the results of the grid arms with the first seed, in the order of the arms; empty while these are made.
// Called concurrently from several threads for different runs.
using ArmRunner =
    std::function<StatusOr<Measurement>(const Arm& arm, std::uint64_t seed, std::span<const ArmResult> grid)>;

inline constexpr std::uint64_t kFirstSeed = 1;

struct HarnessProgress {
  enum class Event {
    kReused,    // the result already existed
    kStarted,   // the run starts
    kFinished,  // the run has ended and its result is on disk
  };

  Event event = Event::kStarted;
  std::string arm;
  std::uint64_t seed = 0;
  std::size_t done = 0;  // runs with a result, including reused ones
  std::size_t total = 0;
  // Estimated time for the remaining runs, from the durations of the same arm, else of all arms. Empty until
  // a run has finished, now or in an earlier attempt.
  std::optional<Duration> left;
};

// A part of the runs: every `count`-th, starting at the `index`-th, counted from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

struct HarnessOptions {
  std::filesystem::path out;         // created if missing
  std::vector<std::uint64_t> seeds;  // at least one, unique; with a grid, must contain kFirstSeed
  std::size_t threads = 1;           // concurrent runs; does not affect results
  // Run only this part. Every shard includes the grid's runs with the first seed, which others may need.
  Shard shard;
  // If not empty, nothing is run: results are copied to `out` from these folders, each the `out` of a shard.
  std::vector<std::filesystem::path> merge;
  // Each may be null. `should_stop` is called before every run. `notice` gets whole sentences for a person
  // about unusable results and numbers that are not finite.
  std::function<bool()> should_stop;
  std::function<void(const HarnessProgress&)> progress;
  std::function<void(const std::string&)> notice;
};

struct HarnessOutcome {
  std::vector<ArmResult> results;  // in the order of the runs; fewer than `total` if stopped
  std::size_t total = 0;
  bool stopped = false;
};

// Runs every arm with every seed: first the grid arms, then all arms with the first seed, then with the
// second, and so on, so that an interrupted reproduction already allows comparisons.
//
// Every finished run is stored in OUT/results. Valid results with the arm's fingerprint found there are
// reused; others are reported and their runs repeated. So a stopped or failed call can simply be repeated.
//
// Stopping is not a failure. Fails if the reproduction or the seeds are invalid, if OUT cannot be written
// (before the first run), and with the runner's failure, which names its arm and seed. Merging fails if a run
// is missing, or if two folders have different results of the same run.
StatusOr<HarnessOutcome> RunReproduction(const Reproduction& reproduction, const HarnessOptions& options,
                                         const Clock& clock, const ArmRunner& run);

}  // namespace tributary::inline reproduce
