// Speed of dividing samples by features, against the published greedy, and similarity of the shards.
//
//   bench/partitioning                   speed, memory and growth
//   bench/partitioning quality           feature distance relative to stratified random shards, ten seeds
//   bench/partitioning growth FILE.svg   growth only, as a picture
//
// Real data come from the folder TRIBUTARY_DATA; without it their measurements are skipped.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/base/worker_pool.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/plot/line_chart.h"
#include "tributary/policy/partitioning/class_greedy.h"
#include "tributary/policy/partitioning/feature_distance.h"
#include "tributary/policy/partitioning/label_splits.h"
#include "tributary/policy/partitioning/partition.h"
#include "tributary/policy/partitioning/similarities.h"
#include "tributary/policy/partitioning/submodular.h"
#include "tributary/policy/partitioning/testing_greedy.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Seconds;

constexpr PartitionObjective kObjectives[] = {PartitionObjective::kFacilityLocation,
                                              PartitionObjective::kGraphCut, PartitionObjective::kMatchedCut};
constexpr BlockChoice kChoices[] = {BlockChoice::kRaw, BlockChoice::kFill};

ParallelFor On(WorkerPool& pool) {
  return [&pool](std::size_t parts, const std::function<void(std::size_t)>& body) {
    const Status ran = pool.Run(parts, [&](std::size_t, std::size_t part) {
      body(part);
      return OkStatus();
    });
    TRIBUTARY_CHECK(ran.ok());
  };
}

// Classes of a few clusters with unequal weights, which vary along a few hidden directions, like features of
// networks; up to 16 `dimensions` are used directly.
LabelledFeatures MakeFeatures(std::size_t samples, std::size_t dimensions, int classes, std::uint64_t seed) {
  constexpr std::size_t kClusters = 5;
  const std::size_t inner = std::min<std::size_t>(dimensions, 16);
  Rng rng(seed);
  LabelledFeatures made;
  made.dimensions = dimensions;
  made.classes = classes;
  std::vector<double> centres(static_cast<std::size_t>(classes) * kClusters * inner);
  for (double& value : centres) value = Normal(rng, 0, 3);
  std::vector<float> mix(inner * dimensions);
  for (float& value : mix) value = static_cast<float>(Normal(rng) / 4);
  std::vector<double> place(inner);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t label = i % static_cast<std::size_t>(classes);
    const std::uint64_t cluster = std::min(rng.Below(kClusters), rng.Below(kClusters));
    for (std::size_t k = 0; k < inner; ++k)
      place[k] = centres[(label * kClusters + cluster) * inner + k] + Normal(rng);
    made.labels.push_back(static_cast<std::int32_t>(label));
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (dimensions == inner) {
        made.values.push_back(static_cast<float>(place[d]));
        continue;
      }
      // Independent noise in every dimension, as a fast sum of uniform numbers.
      float value = static_cast<float>(rng.Uniform() + rng.Uniform() - 1) / 2;
      for (std::size_t k = 0; k < inner; ++k) value += static_cast<float>(place[k]) * mix[k * dimensions + d];
      made.values.push_back(value);
    }
  }
  return made;
}

StatusOr<LabelledFeatures> RealFeatures(const std::string& name, std::size_t limit,
                                        const ParallelFor& parallel) {
  const char* folder = std::getenv("TRIBUTARY_DATA");
  if (folder == nullptr) return NotFound("TRIBUTARY_DATA names no folder");
  DataOptions options;
  options.name = name;
  options.data_dir = folder;
  if (limit > 0) options.train_limit = limit;
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(options));
  return FeaturesOfDataset(data.train, {64}, 1, parallel);
}

// Similarities of all classes, built before timing.
struct Prebuilt {
  SamplesByClass groups;
  std::vector<std::unique_ptr<DenseSimilarities>> similarities;
  std::vector<std::vector<std::size_t>> quotas;
};

Prebuilt Build(const LabelledFeatures& made, const std::vector<double>& speeds, const ParallelFor& parallel) {
  Prebuilt built;
  built.groups = GroupByClass(made.labels, made.classes);
  const auto widths = ClassWidths(made.features(), built.groups, std::nullopt, 0, parallel);
  built.similarities.resize(built.groups.size());
  std::vector<std::size_t> sizes;
  for (const auto& group : built.groups) sizes.push_back(group.size());
  parallel(built.groups.size(), [&](std::size_t c) {
    const Panels panels(made.features(), built.groups[c]);
    built.similarities[c] = std::make_unique<DenseSimilarities>(sizes[c]);
    for (std::size_t s = 0; s < DenseSimilarities::Stripes(sizes[c]); ++s) {
      built.similarities[c]->FillStripe(panels, widths[c], s);
    }
  });
  built.quotas = SpeedQuotas(sizes, speeds);
  return built;
}

// The published greedy for facility location with our vectorised loops: the remaining difference is the lazy
// heap.
std::vector<std::uint32_t> EagerFacility(const DenseSimilarities& similarities,
                                         std::span<const std::size_t> quotas, BlockChoice choice) {
  const RowGains gains(similarities);
  std::vector<std::vector<Similarity>> best(quotas.size(), std::vector<Similarity>(similarities.size(), 0));
  std::vector<std::size_t> held(quotas.size(), 0), left(similarities.size());
  std::vector<std::int64_t> worth(quotas.size(), 0);
  std::vector<std::uint32_t> holder(similarities.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (!left.empty()) {
    const std::size_t block = ChooseBlock(choice, quotas, held, worth);
    std::size_t at = 0;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::uint64_t gain = gains.Gain(left[i], best[block]);
      if (i > 0 && gain <= most) continue;
      at = i;
      most = gain;
    }
    holder[left[at]] = static_cast<std::uint32_t>(block);
    gains.Raise(left[at], best[block]);
    worth[block] += static_cast<std::int64_t>(most);
    ++held[block];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return holder;
}

// One line of ratios: the published greedy, ours on one thread and on two, interleaved.
void CompareWithPlain(const char* name, const Prebuilt& built, PartitionObjective objective,
                      BlockChoice choice, WorkerPool& pool) {
  constexpr int kRounds = 3;
  const std::size_t classes = built.groups.size();
  std::vector<ClassBlocks> plain(classes), lazy(classes);
  const auto run_plain = [&](std::size_t c) {
    plain[c] = ReferenceGreedy(*built.similarities[c], built.quotas[c], objective, choice).Run();
  };
  const auto run_lazy = [&](std::size_t c) {
    lazy[c] = FillBlocks(*built.similarities[c], built.quotas[c], objective, choice);
  };
  const bool facility = objective == PartitionObjective::kFacilityLocation;
  std::vector<std::vector<std::uint32_t>> eager(classes);
  std::vector<double> of_plain, of_eager, one, two;
  for (int i = 0; i < kRounds; ++i) {
    of_plain.push_back(Seconds([&] { RunInOrder(classes, run_plain); }));
    if (facility) {
      of_eager.push_back(Seconds([&] {
        RunInOrder(classes, [&](std::size_t c) {
          eager[c] = EagerFacility(*built.similarities[c], built.quotas[c], choice);
        });
      }));
    }
    one.push_back(Seconds([&] { RunInOrder(classes, run_lazy); }));
    two.push_back(Seconds([&] { On(pool)(classes, run_lazy); }));
  }
  std::uint64_t asked = 0, plainly = 0;
  bool same = true;
  for (std::size_t c = 0; c < classes; ++c) {
    asked += lazy[c].evaluations;
    plainly += plain[c].evaluations;
    same = same && lazy[c].holder == plain[c].holder && lazy[c].worth == plain[c].worth;
    same = same && (!facility || eager[c] == plain[c].holder);
  }
  std::printf("  %-17s %-4s  plain %7.3f s, ours %7.4f s on one thread: %6.1f x; %7.4f s on two: %6.1f x;",
              std::string(NameOf(objective)).c_str(), std::string(NameOf(choice)).c_str(), Median(of_plain),
              Median(one), Median(of_plain) / Median(one), Median(two), Median(of_plain) / Median(two));
  if (facility) {
    std::printf(" plain with our vector loops %.3f s: %.1f x; %.1f %% of %s evaluations saved;",
                Median(of_eager), Median(of_eager) / Median(one),
                100 - 100 * static_cast<double>(asked) / static_cast<double>(plainly),
                FormatThousands(static_cast<std::int64_t>(plainly)).c_str());
  }
  std::printf(" shards %s (%s)\n", same ? "identical" : "DIFFERENT", name);
}

// Runs `work` in a child process and prints its time and peak memory.
template <typename Work>
void Measured(const char* name, const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool done = work();
    std::fflush(stdout);
    _exit(done ? 0 : 1);
  }
  int status = 0;
  struct rusage usage {};
  wait4(child, &status, 0, &usage);
  const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::printf("  %s: %s, at most %.0f MB in all\n", name, done ? "done" : "NOT DONE",
              static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
}

SubmodularOptions OptionsFor(std::vector<double> speeds, PartitionObjective objective, BlockChoice choice,
                             std::int64_t memory = std::int64_t{1} << 30) {
  SubmodularOptions options;
  options.speeds = std::move(speeds);
  options.objective = objective;
  options.choice = choice;
  options.memory = {memory};
  return options;
}

bool DivideAndSay(const LabelledFeatures& made, const SubmodularOptions& options,
                  const ParallelFor& parallel) {
  StatusOr<SubmodularSplit> split = NotFound("not yet");
  const double seconds = Seconds(
      [&] { split = SplitSubmodular(made.features(), made.labels, made.classes, options, parallel); });
  if (!split.ok()) {
    std::printf("  %s\n", split.status().message().c_str());
    return false;
  }
  std::printf("  %-17s %6.2f s with %.0f MB allowed: %d classes held, %d computed, %d by %zu neighbours\n",
              std::string(NameOf(options.objective)).c_str(), seconds,
              static_cast<double>(options.memory.value) / 1e6, split->dense_classes, split->computed_classes,
              split->nearest_classes, split->neighbours);
  return true;
}

void Speed() {
  const std::vector<double> eight = {4, 4, 2, 2, 1, 1, 1, 1};
  {
    WorkerPool pool(2);
    std::printf("10,000 samples of 1,024 numbers, 10 classes, 8 workers, similarities prebuilt for both:\n");
    const Prebuilt synthetic = Build(MakeFeatures(10'000, 1024, 10, 1), eight, On(pool));
    for (const PartitionObjective objective : kObjectives) {
      for (const BlockChoice choice : kChoices)
        CompareWithPlain("clusters", synthetic, objective, choice, pool);
    }
    if (const auto real = RealFeatures("fashion-mnist", 10'000, On(pool)); real.ok()) {
      const Prebuilt built = Build(*real, eight, On(pool));
      for (const PartitionObjective objective : kObjectives) {
        CompareWithPlain("Fashion-MNIST, PCA-64", built, objective, BlockChoice::kFill, pool);
      }
    }
  }
  std::printf("50,000 samples, CIFAR-10's training set, PCA-64, 8 workers, two threads:\n");
  Measured("all of it, with reading, components and distances", [&] {
    WorkerPool pool(2);
    StatusOr<LabelledFeatures> made = NotFound("");
    const double reading = Seconds([&] { made = RealFeatures("cifar10", 0, On(pool)); });
    if (!made.ok()) {
      std::printf("  %s: taking clusters\n", made.status().message().c_str());
      made = MakeFeatures(50'000, 64, 10, 1);
    }
    std::printf("  reading and components %.2f s\n", reading);
    bool done = true;
    for (const PartitionObjective objective : kObjectives) {
      done = DivideAndSay(*made, OptionsFor(eight, objective, BlockChoice::kFill), On(pool)) && done;
    }
    Rng rng(1);
    const Partition random = SplitStratified(GroupByClass(made->labels, 10), eight, rng);
    const double distances =
        Seconds([&] { MeasureFeatureDistance(made->features(), random, 0, 0, On(pool)); });
    std::printf("  feature distances over all pairs %.2f s\n", distances);
    return done;
  });
  std::printf("200,000 samples of 64 numbers, 10 classes, 8 workers, two threads:\n");
  for (const PartitionObjective objective :
       {PartitionObjective::kMatchedCut, PartitionObjective::kFacilityLocation}) {
    Measured("features (51 MB) included", [&] {
      WorkerPool pool(2);
      const LabelledFeatures made = MakeFeatures(200'000, 64, 10, 1);
      return DivideAndSay(made, OptionsFor(eight, objective, BlockChoice::kFill, 256'000'000), On(pool));
    });
  }
}

void Growth(const char* picture) {
  WorkerPool pool(2);
  LineChart chart;
  chart.title = "Dividing samples of 64 numbers, 10 classes, 8 workers, two threads";
  chart.x_title = "samples";
  chart.y_title = "seconds, similarities included";
  chart.log_x = true;
  TextTable table({"samples", "facility-location", "graph-cut", "matched-cut"},
                  TextTable::Right::kAllButFirst);
  for (const PartitionObjective objective : kObjectives)
    chart.series.push_back({std::string(NameOf(objective)), {}, {}});
  for (const std::size_t samples : {2'000U, 5'000U, 10'000U, 20'000U, 50'000U, 100'000U}) {
    const LabelledFeatures made = MakeFeatures(samples, 64, 10, 1);
    std::vector<std::string> row = {FormatThousands(static_cast<std::int64_t>(samples))};
    for (std::size_t o = 0; o < std::size(kObjectives); ++o) {
      std::vector<double> seconds;
      for (int i = 0; i < 3; ++i) {
        seconds.push_back(Seconds([&] {
          const auto options =
              OptionsFor({4, 4, 2, 2, 1, 1, 1, 1}, kObjectives[o], BlockChoice::kFill, 4'000'000'000);
          TRIBUTARY_CHECK(SplitSubmodular(made.features(), made.labels, 10, options, On(pool)).ok());
        }));
      }
      chart.series[o].points.push_back({static_cast<double>(samples), Median(seconds)});
      char text[32];
      std::snprintf(text, sizeof text, "%.3f s", Median(seconds));
      row.push_back(text);
    }
    table.AddRow(row);
  }
  std::printf("growth:\n%s", table.Format().c_str());
  if (picture == nullptr) return;
  const Status written = WriteFileAtomically(picture, DrawLineChart(chart));
  std::printf("%s\n", written.ok() ? picture : written.message().c_str());
}

double MeanDistance(const LabelledFeatures& made, const Partition& partition, const ParallelFor& parallel) {
  const auto measured = MeasureFeatureDistance(made.features(), partition, 0, 0, parallel).distance;
  return std::accumulate(measured.begin(), measured.end(), 0.0) / static_cast<double>(measured.size());
}

// Ratios over ten seeds, which vary the data (or the selection of real samples) and the random shards.
template <typename Make>
void Quality(const char* name, const Make& make, const ParallelFor& parallel) {
  constexpr std::uint64_t kSeeds = 10;
  TextTable table({"objective", "choice", "speeds 1:1:1:1", "spread", "speeds 4:2:1:1", "spread"},
                  TextTable::Right::kAllButFirst);
  const std::vector<std::vector<double>> all_speeds = {{1, 1, 1, 1}, {4, 2, 1, 1}};
  std::vector<std::vector<double>> ratios(12);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LabelledFeatures made = make(seed);
    for (std::size_t s = 0; s < 2; ++s) {
      Rng rng(seed);
      const Partition random = SplitStratified(GroupByClass(made.labels, made.classes), all_speeds[s], rng);
      const double by_chance = MeanDistance(made, random, parallel);
      for (std::size_t i = 0; i < 6; ++i) {
        SubmodularOptions options = OptionsFor(all_speeds[s], kObjectives[i / 2], kChoices[i % 2]);
        options.seed = seed;
        const auto split = SplitSubmodular(made.features(), made.labels, made.classes, options, parallel);
        TRIBUTARY_CHECK(split.ok());
        ratios[2 * i + s].push_back(MeanDistance(made, split->partition, parallel) / by_chance);
      }
    }
  }
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<std::string> row = {std::string(NameOf(kObjectives[i / 2])),
                                    std::string(NameOf(kChoices[i % 2]))};
    for (std::size_t s = 0; s < 2; ++s) {
      const std::vector<double>& of = ratios[2 * i + s];
      const double mean = std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
      char text[64];
      std::snprintf(text, sizeof text, "%.2f", mean);
      row.push_back(text);
      std::snprintf(text, sizeof text, "%.2f to %.2f", std::ranges::min(of), std::ranges::max(of));
      row.push_back(text);
    }
    table.AddRow(row);
  }
  std::printf("%s, feature distance over that of stratified random shards, mean and range of %d seeds:\n%s\n",
              name, static_cast<int>(kSeeds), table.Format().c_str());
}

void AllQuality() {
  WorkerPool pool(2);
  const ParallelFor parallel = On(pool);
  Quality(
      "5,000 samples in clusters, 16 numbers, 10 classes",
      [](std::uint64_t seed) { return MakeFeatures(5'000, 16, 10, 100 + seed); }, parallel);
  for (const char* name : {"fashion-mnist", "cifar10"}) {
    const auto all = RealFeatures(name, 0, parallel);
    if (!all.ok()) {
      std::printf("%s left out: %s\n", name, all.status().message().c_str());
      continue;
    }
    // Each seed selects another ten thousand.
    const auto some = [&](std::uint64_t seed) {
      std::vector<std::uint32_t> order(all->labels.size());
      std::iota(order.begin(), order.end(), 0U);
      Rng rng(seed);
      Shuffle(rng, std::span(order));
      LabelledFeatures made;
      made.dimensions = all->dimensions;
      made.classes = all->classes;
      for (std::size_t i = 0; i < 10'000; ++i) {
        const auto row = all->features().Row(order[i]);
        made.values.insert(made.values.end(), row.begin(), row.end());
        made.labels.push_back(all->labels[order[i]]);
      }
      return made;
    };
    Quality((std::string(name) + ", 10,000 samples, PCA-64").c_str(), some, parallel);
  }
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "quality") {
    tributary::AllQuality();
  } else if (mode == "growth") {
    tributary::Growth(argc > 2 ? argv[2] : nullptr);
  } else {
    tributary::Speed();
    tributary::Growth(nullptr);
  }
  return 0;
}
