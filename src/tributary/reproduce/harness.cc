#include "tributary/reproduce/harness.h"

#include <set>
#include <system_error>
#include <utility>

#include "tributary/base/file.h"

namespace tributary::inline reproduce {
namespace {

// One pair of arm and seed, and its result once there is one.
struct Run {
  const Arm* arm = nullptr;
  std::uint64_t seed = 0;
  std::filesystem::path path;
  std::optional<ArmResult> result;
};

class Harness {
 public:
  Harness(const Reproduction& reproduction, const HarnessOptions& options, const Clock& clock,
          const ArmRunner& run)
      : options_(options), clock_(clock), run_(run) {
    for (const std::uint64_t seed : options.seeds) {
      for (const Arm& arm : reproduction.arms) {
        runs_.push_back({&arm, seed, ArmResultPath(options.out, arm.name, seed), std::nullopt});
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

  void ReuseResults() {
    for (Run& run : runs_) {
      auto found = ReadArmResult(run.path);
      if (!found.ok()) {
        if (found.status().code() != StatusCode::kNotFound) {
          Notice("A result cannot be used, and its run is made again: " + found.status().message() + ".");
        }
      } else if (found->arm != run.arm->name || found->seed != run.seed) {
        Notice(run.path.string() + " holds the result of the arm '" + found->arm + "' with seed " +
               std::to_string(found->seed) + ", which its name denies; the run is made again.");
      } else if (found->fingerprint != run.arm->fingerprint) {
        Notice(run.path.string() + " was made with other settings; the run is made again.");
      } else {
        run.result = std::move(found).value();
        ++done_;
        Report(HarnessProgress::Event::kReused, run);
      }
    }
  }

  StatusOr<HarnessOutcome> MakeTheRest() {
    bool stopped = false;
    for (Run& run : runs_) {
      if (run.result.has_value()) continue;
      stopped = options_.should_stop && options_.should_stop();
      if (stopped) break;
      Report(HarnessProgress::Event::kStarted, run);
      Status status = Make(run);
      stopped = status.code() == StatusCode::kCancelled;
      if (stopped) break;
      if (!status.ok()) {
        return std::move(status).WithContext("arm '" + run.arm->name + "', seed " + std::to_string(run.seed));
      }
      ++done_;
      Report(HarnessProgress::Event::kFinished, run);
    }
    HarnessOutcome outcome{{}, runs_.size(), stopped};
    for (Run& run : runs_) {
      if (run.result.has_value()) outcome.results.push_back(*std::move(run.result));
    }
    return outcome;
  }

 private:
  Status Make(Run& run) {
    const TimePoint start = clock_.Now();
    TRIBUTARY_ASSIGN_OR_RETURN(Measurement measurement, run_(*run.arm, run.seed));
    const Duration took = clock_.Now() - start;
    for (const std::string& dropped : DropUnusable(measurement)) {
      Notice("In the run of '" + run.arm->name + "' with seed " + std::to_string(run.seed) + ", " + dropped +
             " came out infinite or as no number and counts as missing.");
    }
    ArmResult result{run.arm->name, run.seed, run.arm->fingerprint, took, std::move(measurement)};
    TRIBUTARY_RETURN_IF_ERROR(WriteArmResult(run.path, result));
    run.result = std::move(result);
    return OkStatus();
  }

  std::optional<Duration> TimeLeft() const {
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
    return FromSeconds(left);
  }

  void Report(HarnessProgress::Event event, const Run& run) const {
    if (!options_.progress) return;
    options_.progress({event, run.arm->name, run.seed, done_, runs_.size(), TimeLeft()});
  }

  void Notice(const std::string& sentence) const {
    if (options_.notice) options_.notice(sentence);
  }

  const HarnessOptions& options_;
  const Clock& clock_;
  const ArmRunner& run_;
  std::vector<Run> runs_;
  std::size_t done_ = 0;
};

}  // namespace

StatusOr<HarnessOutcome> RunReproduction(const Reproduction& reproduction, const HarnessOptions& options,
                                         const Clock& clock, const ArmRunner& run) {
  TRIBUTARY_RETURN_IF_ERROR(CheckReproduction(reproduction));
  if (options.seeds.empty()) return InvalidArgument("there are no seeds; at least one is needed");
  if (std::set(options.seeds.begin(), options.seeds.end()).size() != options.seeds.size()) {
    return InvalidArgument("a seed is given twice; it would count one run as two");
  }
  Harness harness(reproduction, options, clock, run);
  TRIBUTARY_RETURN_IF_ERROR(harness.Prepare());
  harness.ReuseResults();
  return harness.MakeTheRest();
}

}  // namespace tributary::inline reproduce
