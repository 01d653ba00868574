
#include "tributary/base/file.h"
#include "tributary/base/mutex.h"
#include "tributary/base/names.h"
#include "tributary/base/worker_pool.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/fitted_network.h"
#include "tributary/cli/partition_report.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/load.h"
#include "tributary/data/saved_network.h"
#include "tributary/device/evaluation.h"
#include "tributary/engine/compute.h"
#include "tributary/experiment/quantity.h"
#include "tributary/policy/partitioning/partition.h"
#include "tributary/policy/partitioning/similarities.h"
#include "tributary/policy/partitioning/split.h"
#include "tributary/policy/partitioning/submodular.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace partition_command {

struct Arguments {
  std::string features, labels;  // files, or a feature kind of a data set
  std::string features_from;     // weights of a network
  DataOptions data;
  std::string speeds, memory = "1GB";
  std::string method = "submodular", objective = "matched-cut", choice = "fill";
  std::optional<double> width;
  SplitOptions split;
  std::uint64_t seed = 0;
  std::size_t distance_samples = 100'000;
  std::string out, plot;
  int threads = 1;
  bool json = false, quiet = false;
};

// A thread pool that shows a progress line for each completed part.
class Workers {
 public:
  Workers(const Arguments& arguments, const Clock& clock)
      : pool_(static_cast<std::size_t>(arguments.threads)),
        progress_(clock, stderr,
                  {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(stderr)}) {}

  // Sets the stage for the progress line.
  void Begin(std::string stage) { stage_ = std::move(stage); }
  void Say(std::size_t done, std::string_view text) {
    const MutexLock lock(mutex_);
    progress_.Update(done, text);
  }
  void Clear() {
    const MutexLock lock(mutex_);
    progress_.Clear();
  }

  ParallelFor parallel() {
    return [this](std::size_t parts, const std::function<void(std::size_t)>& body) {
      std::size_t done = 0;
      const Status ran = pool_.Run(parts, [&](std::size_t, std::size_t part) {
        body(part);
        const MutexLock lock(mutex_);
        ++done;
        progress_.Update(done, stage_ + ", part " + std::to_string(done) + " of " + std::to_string(parts));
        return OkStatus();
      });
      TRIBUTARY_CHECK(ran.ok());
    };
  }

 private:
  WorkerPool pool_;
  Mutex mutex_;
  Progress progress_ TRIBUTARY_GUARDED_BY(mutex_);
  std::string stage_;
};

std::vector<std::string> Methods() {
  std::vector<std::string> methods = {"submodular"};
  for (const std::string& kind : SplitKinds()) methods.push_back(kind);
  return methods;
}

StatusOr<std::vector<double>> ParseSpeeds(std::string_view text) {
  constexpr std::size_t kMostWorkers = 10'000;
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<double> speeds, ParseList<double>("--speeds", text));
  if (speeds.size() <= kMostWorkers) return speeds;
  return InvalidArgument(fmt::format("--speeds has more than {} numbers, the most workers", kMostWorkers));
}

StatusOr<SubmodularOptions> ReadOptions(const Arguments& arguments) {
  const std::vector<std::string> methods = Methods();
  if (std::ranges::find(methods, arguments.method) == methods.end()) {
    return UnknownName("method", arguments.method, methods);
  }
  SubmodularOptions options;
  TRIBUTARY_ASSIGN_OR_RETURN(options.speeds, ParseSpeeds(arguments.speeds));
  TRIBUTARY_ASSIGN_OR_RETURN(options.objective, ParsePartitionObjective(arguments.objective));
  TRIBUTARY_ASSIGN_OR_RETURN(options.choice, ParseBlockChoice(arguments.choice));
  auto memory = ParseQuantity(arguments.memory, Unit::kBytes);
  if (!memory.ok()) return std::move(memory).status().WithContext("--memory");
  options.memory = {static_cast<std::int64_t>(std::min(*memory, 1e15))};
  options.width = arguments.width;
  options.seed = arguments.seed;
  return options;
}

// Outputs of a trained network's last layer but one.
StatusOr<LabelledFeatures> ReadNetworkFeatures(const Arguments& arguments, Dataset data, Workers& workers) {
  const std::string& path = arguments.features_from;
  TRIBUTARY_ASSIGN_OR_RETURN(const WeightsFile file, WeightsFile::Read(path));
  auto said = FromMetadata(file.metadata());
  if (!said.ok()) return std::move(said).status().WithContext(path);
  if (!*said) {
    return InvalidArgument(
        path + " does not say which network it holds; weights come from 'tributary train --save'");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(FittedNetwork fitted,
                             FitNetwork(path, file, **said, arguments.data.name, std::move(data)));
  SetComputeThreads(arguments.threads);
  Executor executor(fitted.model, {fitted.parameters.span(), fitted.statistics.span(), {}});
  return FeaturesOfNetwork(executor, fitted.data, [&](std::size_t samples) {
    workers.Say(samples, "reading features");
    return true;
  });
}

// From two files, or from the data set in --data.
StatusOr<LabelledFeatures> ReadFeatures(const Arguments& arguments, Workers& workers,
                                        std::vector<std::uint32_t>& sources) {
  if (arguments.features.empty() == arguments.features_from.empty()) {
    return InvalidArgument(
        "features are named by one of --features (a file; with --data, pixels or pca:K) and --features-from "
        "(with --data, the weights of a network)");
  }
  if (!arguments.data.name.empty()) {
    if (!arguments.labels.empty()) {
      return InvalidArgument("--labels belongs to a --features file; a data set (--data) brings its own");
    }
    FeatureChoice choice;
    if (arguments.features_from.empty()) {
      TRIBUTARY_ASSIGN_OR_RETURN(choice, ParseFeatureChoice(arguments.features));
    }
    DataOptions data = arguments.data;
    data.seed = arguments.seed;
    TRIBUTARY_ASSIGN_OR_RETURN(TrainTest loaded, LoadData(data));
    sources.assign(loaded.train.sources().begin(), loaded.train.sources().end());
    if (!arguments.features_from.empty())
      return ReadNetworkFeatures(arguments, std::move(loaded.train), workers);
    return FeaturesOfDataset(loaded.train, choice, arguments.seed, workers.parallel());
  }
  if (!arguments.features_from.empty()) {
    return InvalidArgument("--features-from needs --data, the samples that the network is to read");
  }
  if (arguments.labels.empty()) {
    return InvalidArgument(
        "--features " + arguments.features +
        " needs --labels FILE.npy beside it, or --data NAME for the features of a data set");
  }
  return ReadFeatureFiles(arguments.features, arguments.labels);
}

// Divides the samples by any method and measures the result.
Status Divide(const Arguments& arguments, const SubmodularOptions& options, const LabelledFeatures& made,
              std::span<const std::uint32_t> sources, const ParallelFor& parallel, PartitionReport& report) {
  // Required for every method, since all results are measured alike.
  TRIBUTARY_RETURN_IF_ERROR(CheckSubmodular(made.features(), made.labels, made.classes, options));
  constexpr std::size_t kMostCounts = 20'000'000;
  if (options.speeds.size() > kMostCounts / static_cast<std::size_t>(made.classes)) {
    return ResourceExhausted(
        fmt::format("{} classes (the largest label and one) over {} workers are more than {} counts, the "
                    "most that are kept",
                    made.classes, options.speeds.size(), kMostCounts));
  }
  std::vector<double> widths;
  const SamplesByClass groups = GroupByClass(made.labels, made.classes);
  if (arguments.method == "submodular") {
    TRIBUTARY_ASSIGN_OR_RETURN(SubmodularSplit split, SplitSubmodular(made.features(), made.labels,
                                                                      made.classes, options, parallel));
    report.partition = std::move(split.partition);
    report.objective = std::move(split.objective);
    report.neighbours = split.neighbours;
    if (report.neighbours == 0) return OkStatus();
    widths = std::move(split.widths);
  } else {
    SplitOptions split = arguments.split;
    split.speeds = options.speeds;
    split.kind = arguments.method;
    split.devices = static_cast<int>(options.speeds.size());
    split.seed = options.seed;
    TRIBUTARY_ASSIGN_OR_RETURN(report.partition, MakeSplit(split, made.labels, made.classes, sources));
  }
  if (widths.empty()) widths = ClassWidths(made.features(), groups, options.width, options.seed, parallel);
  report.objective =
      MeasureWorth(made.features(), made.labels, report.partition, options.objective, widths, parallel);
  return OkStatus();
}

Status Run(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const SubmodularOptions options, ReadOptions(arguments));
  TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.out));
  if (!arguments.plot.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.plot));
  const std::unique_ptr<Clock> clock = MakeRealClock();
  Workers workers(arguments, *clock);
  const ParallelFor parallel = workers.parallel();

  workers.Begin("reading features");
  std::vector<std::uint32_t> sources;
  TRIBUTARY_ASSIGN_OR_RETURN(const LabelledFeatures made, ReadFeatures(arguments, workers, sources));
  workers.Begin("dividing " + std::to_string(made.labels.size()) + " samples");
  PartitionReport report;
  report.method = arguments.method;
  TRIBUTARY_RETURN_IF_ERROR(Divide(arguments, options, made, sources, parallel, report));
  report.class_counts = CountClasses(report.partition, made.labels, made.classes);
  workers.Begin("measuring distances");
  report.distance = MeasureFeatureDistance(made.features(), report.partition, arguments.distance_samples,
                                           arguments.seed, parallel);
  std::string picture;
  if (!arguments.plot.empty()) {
    workers.Begin("drawing");
    const std::string name = arguments.data.name.empty() ? arguments.features : arguments.data.name;
    const std::string title =
        name + " over " + std::to_string(report.partition.size()) + " workers, " + arguments.method;
    picture = DrawShards(ChartOfShards(report, made, title, arguments.seed, parallel));
  }
  workers.Clear();

  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.out, FormatPartitionJson(report)));
  if (!arguments.plot.empty()) TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.plot, picture));
  if (arguments.json) {
    std::fputs(FormatPartitionJson(report).c_str(), stdout);
    return OkStatus();
  }
  PrintPartition(report);
  Say("\nwrote {}{}{}\n", arguments.out, arguments.plot.empty() ? "" : " and ", arguments.plot);
  return OkStatus();
}

void AddMethodOptions(CLI::App& command, Arguments& a) {
  AddDefaulted(command, "--method", a.method,
               "submodular and stratified (by speed and class, at random), or a split that ignores speeds: "
               "iid, dirichlet, classes-per-device, extended-dirichlet, shards, source");
  AddDefaulted(command, "--objective", a.objective, "facility-location, graph-cut or matched-cut");
  AddDefaulted(command, "--choice", a.choice,
               "submodular: which worker chooses next: fill (least filled quota) or raw (fewest samples)");
  AddOption(command, "--width", a.width,
            "Bandwidth of the Gaussian kernel; default: the median distance within each class");
  AddDefaulted(command, "--memory BYTES", a.memory,
               "Memory limit of submodular besides the features; less is slower");
  AddDefaulted(command, "--alpha", a.split.alpha, "dirichlet, extended-dirichlet: smaller is more skewed");
  AddDefaulted(command, "--classes-per-device", a.split.classes_per_device,
               "classes-per-device, extended-dirichlet: classes per worker");
  AddDefaulted(command, "--shards-per-device", a.split.shards_per_device,
               "shards: runs of the label-sorted data per worker");
}

}  // namespace partition_command

void AddPartitionCommand(CLI::App& app, Action& action) {
  using namespace partition_command;
  auto [command, a] = AddCommand(app, action, Run, "partition",
                                 "Divide samples over workers by speed, with similar feature distributions");
  a.data.name.clear();
  AddOption(command, "--features FILE.npy", a.features,
            "One row of numbers per sample; with --data: pixels, or pca:K for K principal components");
  AddOption(command, "--features-from FILE.safetensors", a.features_from,
            "With --data: outputs of this trained network's last layer but one");
  AddOption(command, "--labels FILE.npy", a.labels, "The class of each sample, from 0");
  AddOption(command, "--data", a.data.name,
            "A data set whose training samples are divided; see 'tributary data'");
  AddFolderOptions(command, a.data);
  AddOption(command, "--train-limit", a.data.train_limit, "Limit the number of training samples");
  AddOption(command, "--speeds X,X,…", a.speeds, "Speed of each worker; only the ratios matter")->required();
  AddMethodOptions(command, a);
  AddDefaulted(command, "--seed", a.seed, "The same seed gives the same shards");
  AddDefaulted(command, "--distance-samples", a.distance_samples,
               "Compute distances over at most this many samples; 0 for all");
  AddThreadsOption(command, a.threads);
  AddOption(command, "--out FILE.json", a.out, "File for the shards")->required();
  AddOption(command, "--plot FILE.svg", a.plot, "Write a plot of each worker's classes and features");
  AddJsonFlag(command, a.json);
  command.add_flag("--quiet", a.quiet, "Print the result only");
  command.footer(
      "Feature distance is a shard's maximum mean discrepancy to all samples.\n"
      "If a class has fewer samples than there are workers, some workers get none.\n"
      "Examples:\n"
      "  tributary partition --features F.npy --labels L.npy --speeds 4,2,1,1 --out p.json --plot p.svg\n"
      "  tributary partition --data cifar10 --features pca:64 --speeds 1,1,1,1 --out p.json\n"
      "  tributary partition --data glyphs --features-from m.safetensors --speeds 2,1,1 --out p.json");
}

}  // namespace tributary::inline cli
