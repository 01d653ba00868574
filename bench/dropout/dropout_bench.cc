// A training step (forward, backward, SGD with momentum) of sub-networks against the whole network, on one
// core, alternating in one process: new channels for every step, as in DISTREAL, including gathering and
// scattering. Prints ratios of medians over shares of multiply-accumulates, and the error of a fitted cost
// model on steps it was not fitted to. Then the cost of a decision: reading the processor meter and choosing
// from a front of 200 vectors.
//
//   dropout [repetitions] [network…]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../timing.h"
#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/device/live_choice.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/subnetwork.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/round_choice.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary {
namespace {

using bench::Median;

constexpr std::size_t kBatch = 32;
constexpr double kLearningRate = 0.01;

// A network whose sub-networks train on its weights.
class Subject {
 public:
  explicit Subject(const std::string& name)
      : model(std::make_shared<const Model>(
            BuildZooGraph({name, Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}).value())),
        costs(*model),
        parameters_(model->parameters.size),
        statistics_(model->statistics.size),
        networks_(model, FilterScaling::kNone),
        inputs_(kBatch * 3 * 32 * 32),
        labels_(kBatch) {
    InitialiseWeights(*model, 1, parameters_.span(), statistics_.span());
    for (float& value : inputs_) value = static_cast<float>(Normal(rng_));
    for (std::int32_t& label : labels_) label = static_cast<std::int32_t>(rng_.Below(10));
  }

  double Seconds(const std::vector<std::int64_t>& kept) {
    const auto start = std::chrono::steady_clock::now();
    Subnetwork& subnetwork = networks_.Of(RandomAtoms(model->channels, kept, rng_));
    for (std::size_t unit = 0; unit < model->units.size(); ++unit) {
      subnetwork.Gather(unit, parameters_.span(), statistics_.span());
    }
    PassOptions options;
    options.rng = &rng_;
    TRIBUTARY_CHECK(subnetwork.executor().Train({inputs_, labels_}, options).ok());
    auto& optimiser = optimisers_[subnetwork.parameters().size()];
    if (!optimiser) {
      OptimiserOptions how;
      how.momentum = 0.9;
      optimiser = MakeOptimiser(how, subnetwork.parameters().size()).value();
    }
    optimiser->Step(subnetwork.parameters(), subnetwork.gradients(), kLearningRate);
    subnetwork.map().ScatterAll(SubnetworkMap::Part::kParameters, subnetwork.parameters(),
                                parameters_.span());
    subnetwork.map().ScatterAll(SubnetworkMap::Part::kStatistics, subnetwork.statistics(),
                                statistics_.span());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::vector<std::int64_t> All() const {
    return KeptCounts(model->channels, std::vector<double>(model->channels.groups.size(), 0));
  }

  const std::shared_ptr<const Model> model;
  const SubnetworkCosts costs;

 private:
  FlatBuffer parameters_, statistics_;
  Subnetworks networks_;
  std::map<std::size_t, std::unique_ptr<Optimiser>> optimisers_;
  Rng rng_{1};
  std::vector<float> inputs_;
  std::vector<std::int32_t> labels_;
};

// Medians of steps of each of these, interleaved.
std::vector<double> Alternate(Subject& subject, const std::vector<std::vector<std::int64_t>>& those,
                              int repetitions) {
  std::vector<std::vector<double>> times(those.size());
  for (int i = 0; i <= repetitions; ++i) {
    for (std::size_t k = 0; k < those.size(); ++k) {
      const double seconds = subject.Seconds(those[k]);
      if (i > 0) times[k].push_back(seconds);  // The first builds the network.
    }
  }
  std::vector<double> medians;
  for (const auto& of_one : times) medians.push_back(Median(of_one));
  return medians;
}

void Run(const std::string& name, int repetitions) {
  Subject subject(name);
  const std::size_t groups = subject.model->channels.groups.size();
  const double whole = static_cast<double>(subject.costs.MacsOf(subject.All()));
  std::printf("%s, %zu channel groups, batch %zu, one core\n  kept     MACs    step     of the whole\n",
              name.c_str(), groups, kBatch);
  std::vector<std::vector<std::int64_t>> kept = {subject.All()};
  const std::vector<double> shares = {0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125};
  for (const double share : shares) {
    kept.push_back(KeptCounts(subject.model->channels, std::vector<double>(groups, 1 - share)));
  }
  const std::vector<double> times = Alternate(subject, kept, repetitions);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::printf("  %5.3f  %6.3f  %7.1f ms  %5.3f\n", i == 0 ? 1.0 : shares[i - 1],
                static_cast<double>(subject.costs.MacsOf(kept[i])) / whole, 1e3 * times[i],
                times[i] / times[0]);
  }

  // Vectors with a random rate per group around a common level: two thirds for fitting, one third for
  // testing.
  Rng rng(7);
  std::vector<std::vector<std::int64_t>> vectors;
  for (int i = 0; i < 24; ++i) {
    const double level = 0.9 * rng.Uniform();
    std::vector<double> rates;
    for (std::size_t g = 0; g < groups; ++g)
      rates.push_back(std::clamp(level + 0.4 * (rng.Uniform() - 0.5), 0.0, 0.95));
    vectors.push_back(KeptCounts(subject.model->channels, rates));
  }
  const std::vector<double> measured = Alternate(subject, vectors, std::max(3, repetitions / 2));
  std::vector<CostMeasurement> fitted;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (i % 3 != 2) fitted.push_back({subject.costs.FeaturesOf(vectors[i]), measured[i]});
  }
  const CostModel model = FitCostModel(fitted).value();
  double mean = 0, worst = 0, by_macs = 0;
  int unseen = 0;
  for (std::size_t i = 2; i < vectors.size(); i += 3, ++unseen) {
    const CostFeatures features = subject.costs.FeaturesOf(vectors[i]);
    const double error = std::abs(model.Seconds(features) / measured[i] - 1);
    mean += error;
    worst = std::max(worst, error);
    by_macs += std::abs(times[0] * features.macs / (3 * whole) / measured[i] - 1);
  }
  std::printf(
      "  cost model on %d unseen vectors: mean error %.1f %%, largest %.1f %%; in proportion to MACs alone: "
      "mean"
      " %.1f %%\n\n",
      unseen, 100 * mean / unseen, 100 * worst, 100 * by_macs / unseen);
}

// Two hundred vectors of resnet20, on a device with time for about half of the network.
void RunDecisions() {
  const Model model(BuildZooGraph({"resnet20", Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}).value());
  const SubnetworkCosts costs(model);
  auto front = std::make_shared<ParetoFront>();
  front->model = "resnet20";
  for (const auto& group : model.channels.groups) front->groups.push_back({group.name, group.channels});
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    FrontPoint point;
    for (std::size_t group = 0; group < front->groups.size(); ++group)
      point.dropout.push_back(Uniform(rng, 0, 0.9));
    point.macs = static_cast<double>(costs.MacsOf(KeptCounts(model.channels, point.dropout)));
    front->points.push_back(std::move(point));
  }
  std::ranges::sort(front->points, {}, &FrontPoint::macs);
  const auto clock = MakeRealClock();
  LiveChoice::Options options{.known = {0, 1e-11, 0}};
  options.menu = std::make_shared<const DropoutMenu>(
      DropoutMenu::Make(model, {.method = SubnetworkRuleNamed("pareto"), .front = front}).value());
  const std::size_t vectors = options.menu->entries().size();
  const double half = 0.5 * options.known.Seconds(options.menu->entries().back().features) * kBatch;
  LiveChoice choice(std::move(options), *clock);
  constexpr std::size_t kSteps = 20'000;
  std::vector<double> deciding, drawing;
  for (std::size_t step = 0; step < kSteps; ++step) {
    choice.Begin({1, DeviceId{0}, RoundId{step + 1}}, {kBatch}, clock->Now() + FromSeconds(half));
    const auto begin = std::chrono::steady_clock::now();
    choice.Decide();
    const auto decided = std::chrono::steady_clock::now();
    TRIBUTARY_CHECK(!choice.choice().Atoms(0).empty());
    const auto drawn = std::chrono::steady_clock::now();
    deciding.push_back(std::chrono::duration<double, std::micro>(decided - begin).count());
    drawing.push_back(std::chrono::duration<double, std::micro>(drawn - decided).count());
  }
  std::printf("deciding among %zu vectors: %.2f µs; drawing the channels: %.2f µs (medians of %zu)\n",
              vectors, Median(deciding), Median(drawing), kSteps);
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  tributary::SetComputeThreads(1);
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  if (names.empty()) names = {"resnet20", "resnet18", "densenet-40", "mobilenet-v2"};
  tributary::RunDecisions();
  for (const std::string& name : names) tributary::Run(name, repetitions);
}
