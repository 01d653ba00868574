// DynaComm's comparison: iteration times of transfer strategies, on four networks, with 8 workers and 4
// parameter servers. Layers are timed on this machine, scaled to a worker of the speed below, and iterations
// are simulated: workers share the servers' links and plan from the transfers they observe.

#include <map>
#include <memory>

#include "tributary/device/layer_timing.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/simulated/step_charge.h"
#include "tributary/model/zoo.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::size_t kWorkers = 8;
constexpr std::size_t kServers = 4;
constexpr double kRoundTrip = 0.010;
constexpr double kBatch = 32;
constexpr double kWorkerMacs = 1.5e12;  // per second: a small GPU
constexpr double kRates[] = {1e9, 2e9, 5e9, 10e9};
constexpr int kIterations = 12;  // in the first ones, planners learn the effect of sharing links

struct Network {
  std::string name;
  Shape input;
};
const std::vector<Network>& Networks() {
  static const std::vector<Network> networks = {{"vgg19", {3, 224, 224}},
                                                {"googlenet", {3, 224, 224}},
                                                {"inception-v4", {3, 299, 299}},
                                                {"resnet152", {3, 224, 224}}};
  return networks;
}

struct Profile {
  StepCosts costs;  // of a worker; transfers are set per rate
  std::shared_ptr<const std::vector<std::int64_t>> unit_bytes;
};

StatusOr<Profile> Measure(const Network& network, Effort effort) {
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph,
                             BuildZooGraph({network.name, network.input, 1000, Stem::kImageNet}));
  const auto model = std::make_shared<const Model>(std::move(graph));
  SetComputeThreads(1);
  const auto clock = MakeRealClock();
  const bool full = effort == Effort::kFull;
  TRIBUTARY_ASSIGN_OR_RETURN(const LayerTimes times,
                             MeasureLayers(model, full ? 4 : 2, full ? 5 : 3, *clock));
  Duration all{0};
  for (const auto& layers : {times.forward, times.backward}) {
    for (const Duration time : layers) all += time;
  }
  const double seconds = 3 * static_cast<double>(TotalMacs(model->costs).value) * kBatch / kWorkerMacs;
  const double scale = seconds / ToSeconds(all);
  Profile profile;
  for (const Duration time : times.forward) profile.costs.forward.push_back(scale * ToSeconds(time));
  for (const Duration time : times.backward) profile.costs.backward.push_back(scale * ToSeconds(time));
  profile.unit_bytes = std::make_shared<const std::vector<std::int64_t>>(CostsOfUnits(*model).bytes);
  return profile;
}

// The duration of an iteration once plans have converged: the mean of the second half.
double IterationTime(const Profile& profile, TransferStrategy strategy, double rate, std::size_t workers) {
  StepCosts costs = profile.costs;
  costs.pull_setup = costs.push_setup = kRoundTrip / 2;
  costs.pull_per_byte = costs.push_per_byte = 8 / rate;
  std::vector<StepPlanner> planners;
  for (std::size_t i = 0; i < workers; ++i)
    planners.emplace_back(TransferOptions{.strategy = strategy, .drift = 0.01}, profile.unit_bytes, costs);
  Bytes bytes{0};
  for (const std::int64_t unit : *profile.unit_bytes) bytes.value += unit;
  const auto servers = MakeEvenServers(kServers, bytes, {BitsPerSecond{rate}, BitsPerSecond{rate}});
  TimePoint now{0};
  double sum = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::vector<DeviceTask> tasks;
    std::vector<StepPlan> plans;
    for (std::size_t i = 0; i < workers; ++i) {
      plans.push_back(planners[i].plan());
      DeviceTask task{.device = {i},
                      .start = now,
                      .round_trip = FromSeconds(kRoundTrip),
                      .up = BitsPerSecond{rate},
                      .down = BitsPerSecond{rate}};
      SegmentTask(plans.back(), *profile.unit_bytes, task);
      task.compute = [parts = PartsOf(costs, plans.back())](std::size_t part, TimePoint begin) {
        return begin + parts[part];
      };
      tasks.push_back(std::move(task));
    }
    const OrderTimeline round = PlayDevices(servers, tasks, now, std::nullopt, workers);
    for (std::size_t i = 0; i < workers; ++i) {
      planners[i].Observe(ObservationOf(round.devices[i], Duration(0), plans[i], tasks[i], costs));
    }
    if (iteration >= kIterations / 2) sum += ToSeconds(round.idle - round.start);
    now = round.idle;
  }
  return sum / (kIterations - kIterations / 2);
}

struct Figures {
  double computing = 0;  // seconds per iteration, on a worker
  std::map<TransferStrategy, double> seconds, speed_up;
};

Figures Compare(const Profile& profile, double rate) {
  Figures figures;
  for (const double seconds : profile.costs.forward) figures.computing += seconds;
  for (const double seconds : profile.costs.backward) figures.computing += seconds;
  for (const TransferStrategy strategy : kTransferStrategies) {
    figures.seconds[strategy] = IterationTime(profile, strategy, rate, kWorkers);
    figures.speed_up[strategy] =
        kWorkers * IterationTime(profile, strategy, rate, 1) / figures.seconds[strategy];
  }
  return figures;
}

std::map<std::string, double> NumbersOf(const Figures& figures) {
  const auto saves = [&](TransferStrategy better, TransferStrategy than) {
    return 1 - figures.seconds.at(better) / figures.seconds.at(than);
  };
  using enum TransferStrategy;
  return {{"iteration", figures.seconds.at(kOptimal)},
          {"computing", figures.computing / figures.seconds.at(kOptimal)},
          {"optimal saves", saves(kOptimal, kSequential)},
          {"ibatch saves", saves(kIBatch, kSequential)},
          {"layerwise saves", saves(kLayerwise, kSequential)},
          {"optimal on ibatch", saves(kOptimal, kIBatch)},
          {"optimal on layerwise", saves(kOptimal, kLayerwise)},
          {"speed-up optimal", figures.speed_up.at(kOptimal)},
          {"speed-up ibatch", figures.speed_up.at(kIBatch)},
          {"speed-up layerwise", figures.speed_up.at(kLayerwise)}};
}

// One profile per network and seed, shared by its arms, so that strategies are compared on the same profile.
class Runner {
 public:
  explicit Runner(Effort effort) : effort_(effort) {}

  StatusOr<Measurement> Run(const Arm& arm, std::uint64_t seed) {
    for (const Network& network : Networks()) {
      if (!arm.name.starts_with(network.name + "-")) continue;
      auto& profile = profiles_[{network.name, seed}];
      if (!profile) {
        TRIBUTARY_ASSIGN_OR_RETURN(Profile measured, Measure(network, effort_));
        profile = std::make_unique<const Profile>(std::move(measured));
      }
      const std::string rate = arm.name.substr(network.name.size() + 1);
      if (rate != "best") return Measurement{NumbersOf(Compare(*profile, std::stod(rate) * 1e9)), {}};
      Measurement best;
      for (const double each : kRates) {
        for (const auto& [name, value] : NumbersOf(Compare(*profile, each))) {
          const auto [place, fresh] = best.numbers.emplace(name, value);
          if (!fresh) place->second = std::max(place->second, value);
        }
        best.curve.push_back({each / 1e9, NumbersOf(Compare(*profile, each)).at("optimal saves")});
      }
      best.numbers.erase("iteration");
      return best;
    }
    return NotFound("no such arm: " + arm.name);
  }

 private:
  const Effort effort_;
  std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<const Profile>> profiles_;
};

}  // namespace

StatusOr<Study> MakeDynaCommStudy(Effort effort) {
  Study study;
  study.seeds = {1, 2, 3};
  study.runner = [effort](const SimulationOptions&) -> ArmRunner {
    return [runner = std::make_shared<Runner>(effort)](const Arm& arm, std::uint64_t seed,
                                                       std::span<const ArmResult>) {
      return runner->Run(arm, seed);
    };
  };
  Reproduction& reproduction = study.reproduction;
  reproduction.name = "dynacomm";
  reproduction.about =
      "DynaComm (Cai et al., JSAC 2022): an iteration of 8 workers that pull from and push to 4 parameter "
      "servers, round trip 10 ms, all links with the same rate. Four strategies divide transfers into "
      "segments; savings are relative to the iteration's time.";
  const std::string fingerprint = effort == Effort::kFull ? "batch 4, 5 repeats" : "batch 2, 3 repeats";
  for (const Network& network : Networks()) {
    for (const double rate : kRates) {
      const std::string gbit = std::to_string(static_cast<int>(rate / 1e9));
      reproduction.arms.push_back(
          {network.name + "-" + gbit, network.name + ", " + gbit + " Gbit/s", fingerprint});
    }
    reproduction.arms.push_back(
        {network.name + "-best", network.name + ", the best of each figure over all rates", fingerprint});
  }
  const NumberFormat percent{.decimals = 1, .percent = true};
  reproduction.metrics = {
      {"iteration", "s", Metric::Better::kLower, {.decimals = 2}},
      {"computing", "", Metric::Better::kHigher, percent},
      {"optimal saves", "", Metric::Better::kHigher, percent},
      {"ibatch saves", "", Metric::Better::kHigher, percent},
      {"layerwise saves", "", Metric::Better::kHigher, percent},
      {"optimal on ibatch", "", Metric::Better::kHigher, percent},
      {"optimal on layerwise", "", Metric::Better::kHigher, percent},
      {"speed-up optimal", "", Metric::Better::kHigher, {.decimals = 2}},
      {"speed-up ibatch", "", Metric::Better::kHigher, {.decimals = 2}},
      {"speed-up layerwise", "", Metric::Better::kHigher, {.decimals = 2}},
  };
  const std::string upto = "up to, over its settings";
  const std::string unnamed = "the network is not named";
  reproduction.published = {{"vgg19-best", "optimal saves", 0.4110, upto},
                            {"resnet152-best", "optimal saves", 0.4192, upto},
                            {"inception-v4-best", "ibatch saves", 0.2422, upto},
                            {"inception-v4-best", "layerwise saves", 0.3525, upto},
                            {"resnet152-best", "speed-up optimal", 7.2, unnamed},
                            {"resnet152-best", "speed-up ibatch", 6.2, unnamed},
                            {"resnet152-best", "speed-up layerwise", 5.4, unnamed}};
  reproduction.chart = {.title = "Time saved by optimal segments, compared with one transfer each way",
                        .x_title = "rate of every link, Gbit/s",
                        .y_title = "fraction of the iteration's time",
                        .log_x = true,
                        .references = {}};
  reproduction.notes = {
      "Layers were timed on this machine with one thread, and scaled so that a step of batch 32 runs at "
      "1.5 T multiply-accumulates per second. Each seed is a separate measurement. Published batch sizes, "
      "devices and set-up costs are unknown.",
      "All links, also those of the servers, have the same rate: eight workers share four servers and plan "
      "from the rates they observe. Every segment costs half a round trip. The speed-up is 8 × the "
      "iteration time of a single worker, under the same strategy, divided by that of eight. Computing is "
      "the fraction of the iteration (under optimal) in which a worker computes; eight times it is the "
      "speed-up over one worker that needs no servers.",
      "The segments of a network with branches follow the order of execution."};
  return study;
}

}  // namespace tributary::inline reproduce
