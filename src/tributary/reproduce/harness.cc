#include "tributary/reproduce/harness.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "tributary/base/file.h"
#include "tributary/base/mutex.h"
#include "tributary/base/worker_pool.h"

namespace tributary::inline reproduce {
namespace {

// A pair of arm and seed, and its result if any.
struct Run {
  const Arm* arm = nullptr;
  std::uint64_t seed = 0;
  bool grid = false;  // other runs may need it
  std::optional<ArmResult> result;

  std::string Name() const { return "arm '" + arm->name + "', seed " + std::to_string(seed); }
};

class Harness {
 public:
  Harness(const Reproduction& reproduction, const HarnessOptions& options, const Clock& clock,
          const ArmRunner& run)
      : options_(options), clock_(clock), run_(run) {
    std::size_t place = 0;
    for (const std::uint64_t seed : options.seeds) {
      for (const Arm& arm : reproduction.arms) {
        const bool grid = arm.grid && seed == kFirstSeed;
        const bool mine = place++ % options.shard.count == options.shard.index - 1;
        if (grid || mine) runs_.push_back({&arm, seed, grid, std::nullopt});
      }
    }
  }

  Status Prepare() {
    std::error_code error;
    std::filesystem::create_directories(options_.out / "results", error);
    if (error) {
      return InvalidArgument("cannot create the folder " + (options_.out / "results").string() + ": " +
                             error.message());
    }
    return CheckWritable(options_.out / "results" / "new.json");
  }

  Status ReuseResults() {
    const MutexLock lock(mutex_);
    std::vector<std::filesystem::path> folders = {options_.out};
    folders.insert(folders.end(), options_.merge.begin(), options_.merge.end());
    for (Run& run : runs_) {
      for (const std::filesystem::path& folder : folders) TRIBUTARY_RETURN_IF_ERROR(Reuse(run, folder));
      if (!run.result) continue;
      ++done_;
      Report(HarnessProgress::Event::kReused, run);
    }
    return OkStatus();
  }

  // When merging, all results must exist.
  Status CheckMerged() {
    const MutexLock lock(mutex_);
    std::string missing;
    for (const Run& run : runs_) {
      if (!run.result && missing.empty()) missing = run.Name();
    }
    if (missing.empty()) return OkStatus();
    return InvalidArgument(std::to_string(runs_.size() - done_) + " of " + std::to_string(runs_.size()) +
                           " runs have no result in any folder, the first of them " + missing +
                           "; name the folders of all shards, or run without --merge to make the rest");
  }

  StatusOr<HarnessOutcome> MakeTheRest() {
    WorkerPool pool(options_.threads);
    Status status = MakeRuns(/*grid=*/true, pool);
    if (status.ok()) status = MakeRuns(/*grid=*/false, pool);
    const bool stopped = status.code() == StatusCode::kCancelled;
    if (!status.ok() && !stopped) return status;
    const MutexLock lock(mutex_);
    HarnessOutcome outcome{{}, runs_.size(), stopped};
    for (Run& run : runs_) {
      if (run.result.has_value()) outcome.results.push_back(*std::move(run.result));
    }
    return outcome;
  }

 private:
  // Takes the run's result from a folder, if it has a usable one.
  Status Reuse(Run& run, const std::filesystem::path& folder) {
    const std::filesystem::path path = ArmResultPath(folder, run.arm->name, run.seed);
    const std::string what_follows = options_.merge.empty() ? "the run is repeated" : "the result is ignored";
    auto found = ReadArmResult(path);
    if (!found.ok()) {
      if (found.status().code() != StatusCode::kNotFound) {
        Notice("A result cannot be used, and " + what_follows + ": " + found.status().message() + ".");
      }
    } else if (found->arm != run.arm->name || found->seed != run.seed) {
      Notice(path.string() + " contains the result of the arm '" + found->arm + "' with seed " +
             std::to_string(found->seed) + ", contrary to its name; " + what_follows + ".");
    } else if (found->fingerprint != run.arm->fingerprint) {
      Notice(path.string() + " was made with other settings; " + what_follows + ".");
    } else if (!run.result) {
      if (folder != options_.out) {
        TRIBUTARY_RETURN_IF_ERROR(
            WriteArmResult(ArmResultPath(options_.out, run.arm->name, run.seed), *found));
      }
      run.result = std::move(found).value();
    } else if (!SameMeasurement(found->measurement, run.result->measurement)) {
      return InvalidArgument(path.string() + " differs from another result of " + run.Name() +
                             "; merge shards that were made by the same program on the same kind of machine");
    }
    return OkStatus();
  }

  static bool SameMeasurement(const Measurement& a, const Measurement& b) {
    const auto same = [](const Point& p, const Point& q) { return p.x == q.x && p.y == q.y; };
    return a.numbers == b.numbers && std::ranges::equal(a.curve, b.curve, same);
  }

  // Makes the grid runs, or all others.
  Status MakeRuns(bool grid, WorkerPool& pool) {
    std::vector<Run*> left;
    std::vector<ArmResult> before;
    {
      const MutexLock lock(mutex_);
      for (Run& run : runs_) {
        if (run.grid == grid && !run.result) left.push_back(&run);
        if (run.grid && !grid) before.push_back(*run.result);
      }
    }
    return pool.Run(left.size(), [&](std::size_t, std::size_t job) -> Status {
      Run& run = *left[job];
      if (options_.should_stop && options_.should_stop()) return Cancelled("asked to stop");
      {
        const MutexLock lock(mutex_);
        Report(HarnessProgress::Event::kStarted, run);
      }
      Status status = Make(run, before);
      if (status.ok() || status.code() == StatusCode::kCancelled) return status;
      return std::move(status).WithContext(run.Name());
    });
  }

  Status Make(Run& run, std::span<const ArmResult> grid) {
    const TimePoint start = clock_.Now();
    TRIBUTARY_ASSIGN_OR_RETURN(Measurement measurement, run_(*run.arm, run.seed, grid));
    const Duration took = clock_.Now() - start;
    const std::vector<std::string> dropped = DropUnusable(measurement);
    ArmResult result{run.arm->name, run.seed, run.arm->fingerprint, took, std::move(measurement)};
    TRIBUTARY_RETURN_IF_ERROR(WriteArmResult(ArmResultPath(options_.out, run.arm->name, run.seed), result));
    const MutexLock lock(mutex_);
    for (const std::string& each : dropped) {
      Notice("In the run of '" + run.arm->name + "' with seed " + std::to_string(run.seed) + ", " + each +
             " came out infinite or NaN and counts as missing.");
    }
    run.result = std::move(result);
    ++done_;
    Report(HarnessProgress::Event::kFinished, run);
    return OkStatus();
  }

  std::optional<Duration> TimeLeft() const TRIBUTARY_REQUIRES(mutex_) {
    struct Total {
      double seconds = 0;
      double runs = 0;
    };
    Total all;
    std::map<const Arm*, Total> by_arm;
    for (const Run& run : runs_) {
      if (!run.result.has_value()) continue;
      for (Total* total : {&all, &by_arm[run.arm]}) {
        total->seconds += ToSeconds(run.result->took);
        total->runs += 1;
      }
    }
    if (all.runs == 0) return std::nullopt;
    double left = 0;
    for (const Run& run : runs_) {
      if (run.result.has_value()) continue;
      const auto own = by_arm.find(run.arm);
      const Total& known = own != by_arm.end() ? own->second : all;
      left += known.seconds / known.runs;
    }
    return FromSeconds(left / static_cast<double>(options_.threads));
  }

  void Report(HarnessProgress::Event event, const Run& run) const TRIBUTARY_REQUIRES(mutex_) {
    if (!options_.progress) return;
    options_.progress({event, run.arm->name, run.seed, done_, runs_.size(), TimeLeft()});
  }

  void Notice(const std::string& sentence) const {
    if (options_.notice) options_.notice(sentence);
  }

  const HarnessOptions& options_;
  const Clock& clock_;
  const ArmRunner& run_;
  mutable Mutex mutex_;  // also held during callbacks
  std::vector<Run> runs_ TRIBUTARY_GUARDED_BY(mutex_);
  std::size_t done_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

}  // namespace

StatusOr<HarnessOutcome> RunReproduction(const Reproduction& reproduction, const HarnessOptions& options,
                                         const Clock& clock, const ArmRunner& run) {
  TRIBUTARY_RETURN_IF_ERROR(CheckReproduction(reproduction));
  if (options.seeds.empty()) return InvalidArgument("there are no seeds; at least one is needed");
  if (std::set(options.seeds.begin(), options.seeds.end()).size() != options.seeds.size()) {
    return InvalidArgument("a seed is given twice; seeds must be unique");
  }
  const auto is_grid = [](const Arm& arm) { return arm.grid; };
  if (std::ranges::any_of(reproduction.arms, is_grid) &&
      std::ranges::find(options.seeds, kFirstSeed) == options.seeds.end()) {
    return InvalidArgument("a grid needs seed 1, which is not among the seeds");
  }
  if (options.shard.index < 1 || options.shard.index > options.shard.count) {
    return InvalidArgument("there is no shard " + std::to_string(options.shard.index) + " of " +
                           std::to_string(options.shard.count));
  }
  for (const std::filesystem::path& folder : options.merge) {
    std::error_code error;
    if (std::filesystem::is_directory(folder / "results", error)) continue;
    return InvalidArgument(folder.string() +
                           " has no folder 'results'; merge the folders that were --out of shards");
  }
  Harness harness(reproduction, options, clock, run);
  TRIBUTARY_RETURN_IF_ERROR(harness.Prepare());
  TRIBUTARY_RETURN_IF_ERROR(harness.ReuseResults());
  if (!options.merge.empty()) TRIBUTARY_RETURN_IF_ERROR(harness.CheckMerged());
  return harness.MakeTheRest();
}

}  // namespace tributary::inline reproduce
