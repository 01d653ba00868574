// ScaDLES's comparison: training over 16 streams of unequal rate against conventional training, which waits for 64
// samples of every stream. A perceptron learns; time and bytes are those of ResNet-152 over links of 5 Gbit/s, where a
// conventional step takes about 1.2 s and four fifths of it are the exchange of weights and gradients, as in the paper.

#include <algorithm>
#include <cmath>
#include <memory>

#include "tributary/experiment/format.h"
#include "tributary/experiment/quantity.h"
#include "tributary/reproduce/stream_rates.h"
#include "tributary/reproduce/study.h"
#include "tributary/reproduce/tuned_runner.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::size_t kDevices = 16;
constexpr std::size_t kSkewedDevices = 10;  // one for each label
constexpr std::int64_t kBatch = 64;         // of a device, in conventional training
constexpr double kRates[] = {0.02, 0.05, 0.1, 0.2};

// What is trained on, where the person's folder has it, and how far training can be expected to get.
struct Task {
  std::string set;
  double target = 0;
  double samples = 0;  // to learn from in a run; fewer where they are larger
};
const Task kTasks[] = {
    {"fashion-mnist", 0.86, 400'000}, {"cifar10", 0.42, 200'000}, {"glyphs", 0.65, 200'000}};

Task TaskFor(const std::filesystem::path& data_dir) {
  for (const Task& task : kTasks) {
    std::error_code error;
    if (!data_dir.empty() && std::filesystem::is_directory(data_dir / task.set, error)) return task;
  }
  return kTasks[std::size(kTasks) - 1];
}

Experiment Base(const Task& task, Effort effort) {
  Experiment experiment;
  experiment.goal.name = "scadles";
  experiment.model.name = "mlp";
  experiment.model.compute_as = "resnet152";
  experiment.data.set = task.set;
  experiment.data.split.kind = "iid";
  experiment.data.test_limit = effort == Effort::kFull ? 10'000 : 5'000;
  experiment.fleet.servers = {Server{{60e9}, {60e9}}};
  Group group;
  group.name = "devices";
  group.compute = Distribution::Constant(3e12);
  group.uplink = group.downlink = Distribution::Constant(5e9);
  group.round_trip = Distribution::Constant(0.001);
  experiment.fleet.groups = {group};
  experiment.train.method = Method::kSyncSgd;
  experiment.train.batch = kBatch;
  experiment.train.optimiser.momentum = 0.9;
  experiment.train.schedule.name = "constant";
  experiment.stream.base_batch = kBatch;
  return experiment;
}

void SetRates(Experiment& experiment, std::vector<double> rates) {
  Group& group = experiment.fleet.groups[0];
  group.count = static_cast<std::int64_t>(rates.size());
  group.stream_rate = {Distribution::Kind::kList, std::move(rates)};
}

// So many rounds that about as many samples are learnt from in every arm, evaluated as often.
void SetLength(Experiment& experiment, double samples) {
  constexpr double kSamplesPerEvaluation = 6000;
  double round = 0;
  for (const double rate : experiment.fleet.groups[0].stream_rate.numbers) {
    round += static_cast<double>(NextBatch(experiment.stream.batch, kBatch, {rate}).samples);
  }
  experiment.goal.rounds = std::llround(samples / round);
  experiment.goal.evaluate_every = std::max(1LL, std::llround(kSamplesPerEvaluation / round));
}

// The steps from conventional training to the paper's system.
void FollowStreams(Experiment& experiment) {
  experiment.stream.batch.rule = BatchRule::kStreamRate;
  experiment.stream.scaling.rule = RateScaling::kLinear;
}
void Truncate(Experiment& experiment) { experiment.stream.buffer = BufferPolicy::kTruncate; }
void Compress(Experiment& experiment, double ratio, double delta) {
  experiment.compression.kind = CodecNamed("adaptive-top-k");
  experiment.compression.ratio = ratio;
  experiment.compression.delta = delta;
}
// Ours, the same for all rates: a window about as long as a step takes, batches that never grow beyond the one the
// learning rate was found for, a rate that falls by the root where they are smaller, and so much of each gradient that
// little of it is lost.
void UseOurPolicy(Experiment& experiment) {
  experiment.stream.batch.rule = BatchRule::kStreamRate;
  experiment.stream.batch.window = std::chrono::milliseconds(800);
  experiment.stream.batch.largest = kBatch;
  experiment.stream.scaling.rule = RateScaling::kSquareRoot;
  Truncate(experiment);
  Compress(experiment, 0.25, 0.3);
}
// Transfers in segments hide behind computation, so steps are shorter, and so is the window; and more can be sent.
void UseBestPolicy(Experiment& experiment) {
  UseOurPolicy(experiment);
  experiment.transfers.strategy = TransferStrategy::kOptimal;
  experiment.stream.batch.window = std::chrono::milliseconds(700);
  experiment.compression.ratio = 0.4;
}

// What a paper's row says of its setting.
struct Claims {
  std::string rates;
  double speed_up = 0;
  double accuracy = 0;  // of the whole system less that of conventional training; top-5
};
const Claims kClaims[] = {
    {"s1", 1.89, -0.0006}, {"s2", 1.15, -0.0032}, {"s1p", 3.29, -0.0013}, {"s2p", 1.42, -0.0021}};

// Gathers the arms and how they are compared.
class Builder {
 public:
  Builder(const Task& task, Effort effort, const Target& target)
      : base_(Base(task, effort)),
        full_(effort == Effort::kFull),
        samples_(full_ ? 2.5 * task.samples : task.samples),
        target_(target),
        how_("target " + FormatNumber(target.accuracy) + " over " + std::to_string(target.evaluations) +
             " evaluations") {}

  using Change = std::function<void(Experiment&)>;

  void AddGrid() {
    for (const double rate : kRates) {
      Experiment experiment = base_;
      experiment.train.schedule.learning_rate = rate;
      SetRates(experiment, QuantileRates(RateSettings().back(), kDevices));
      SetLength(experiment, samples_);
      const std::string text = FormatNumber(rate);
      Add("ddl-" + text, "conventional, learning rate " + text + ", S2'",
          {std::move(experiment), TunedArm::Rate::kGrid, {}, false, true});
    }
  }

  // Conventional training and the steps to the whole system, at one setting of rates.
  void AddSetting(const RateSetting& setting, const std::string& called) {
    const auto rates = [&](Experiment& experiment) {
      SetRates(experiment, QuantileRates(setting, kDevices));
    };
    const std::string& name = setting.name;
    const bool drawn = name == "s1p" || name == "s2";
    AddOne(name + "-ddl", called + ": conventional", {rates}, {}, drawn);
    AddOne(name + "-weights", called + ": batches and weights by stream rate, 1 s, linear scaling",
           {rates, FollowStreams}, name + "-ddl");
    AddOne(name + "-truncate", called + ": + truncation", {rates, FollowStreams, Truncate}, name + "-ddl");
    const auto compress = [](Experiment& experiment) { Compress(experiment, 0.1, 0.3); };
    AddOne(name + "-paper", called + ": + compression, which is the paper's system",
           {rates, FollowStreams, Truncate, compress}, name + "-ddl", drawn);
    AddOne(name + "-ours", called + ": our policy", {rates, UseOurPolicy}, name + "-ddl");
    AddOne(name + "-best", called + ": our policy with transfers in segments", {rates, UseBestPolicy},
           name + "-ddl", drawn);
    fewer_buffered_[name + "-truncate"] = name + "-weights";
  }

  // Our policy against conventional training where rates are others: with a lower clip, or drawn anew for each seed.
  void AddOtherRates(RateSetting setting, const std::string& name, const std::string& called, bool drawn) {
    const auto rates = [&](Experiment& experiment) {
      SetRates(experiment, QuantileRates(setting, kDevices));
    };
    AddOne(name + "-ddl", called + ": conventional", {rates}, {});
    AddOne(name + "-best", called + ": our policy with transfers in segments", {rates, UseBestPolicy},
           name + "-ddl");
    if (!drawn) return;
    for (const char* side : {"-ddl", "-best"}) {
      arms_.at(name + side).vary = [setting, samples = samples_](Experiment& experiment, std::uint64_t seed) {
        SetRates(experiment, DrawnRates(setting, kDevices, seed));
        SetLength(experiment, samples);
      };
    }
  }

  // The paper's table of compressed steps. Not with the perceptron, whose gradients are spread too evenly.
  void AddCompression(double ratio, double delta, double published) {
    Experiment experiment = base_;
    experiment.model.name = "cnn";
    experiment.data.test_limit = 1000;
    experiment.train.schedule.learning_rate = 0.05;
    SetRates(experiment, QuantileRates(RateSettings().front(), kDevices));
    FollowStreams(experiment);
    Truncate(experiment);
    Compress(experiment, ratio, delta);
    SetLength(experiment, full_ ? 150'000 : 60'000);
    const std::string text = FormatNumber(ratio) + "-" + FormatNumber(delta);
    Add("top-k-" + text, "S1: ratio " + FormatNumber(ratio) + ", delta " + FormatNumber(delta),
        {std::move(experiment), TunedArm::Rate::kOwn, {}, /*curve=*/false, /*once=*/!full_});
    study_.reproduction.published.push_back(
        {"top-k-" + text, "compressed steps", published, "its table of CNC"});
  }

  // Ten devices of one label each; a network with batch norms, which is where one label hurts.
  void AddSkewed(const std::string& name, const std::string& called, const InjectionOptions& injection,
                 double samples) {
    Experiment experiment = base_;
    experiment.model.name = "resnet8";
    experiment.data.split.kind = "classes-per-device";
    experiment.data.split.classes_per_device = 1;
    experiment.data.test_limit = 2000;
    experiment.train.schedule.learning_rate = 0.1;
    experiment.injection = injection;
    SetRates(experiment, QuantileRates(RateSettings().front(), kSkewedDevices));
    FollowStreams(experiment);
    experiment.stream.scaling.rule = RateScaling::kSquareRoot;
    Truncate(experiment);
    SetLength(experiment, samples);
    Add(name, called, {std::move(experiment), TunedArm::Rate::kOwn, {}, false, false});
  }

  Study Finish() && {
    study_.reproduction.comparisons = {
        {"speed-up", "time to target", BaselineComparison::Kind::kSpeedUp, against_, {.decimals = 2}},
        {"accuracy gained",
         "final accuracy",
         BaselineComparison::Kind::kDifference,
         against_,
         {.decimals = 2, .percent = true}},
        {"times fewer buffered",
         "buffered samples",
         BaselineComparison::Kind::kSpeedUp,
         fewer_buffered_,
         {.decimals = 1}}};
    study_.runner = [arms = std::move(arms_),
                     target = target_](const SimulationOptions& options) -> ArmRunner {
      return [runner = std::make_shared<TunedRunner>(arms, target, options)](
                 const Arm& arm, std::uint64_t seed) { return runner->Run(arm.name, seed); };
    };
    return std::move(study_);
  }

  Study& study() { return study_; }

 private:
  void AddOne(const std::string& name, std::string called, const std::vector<Change>& changes,
              const std::string& baseline, bool curve = false) {
    Experiment experiment = base_;
    for (const Change& change : changes) change(experiment);
    SetLength(experiment, samples_);
    if (!baseline.empty()) against_[name] = baseline;
    Add(name, std::move(called), {std::move(experiment), TunedArm::Rate::kBest, {}, curve, false});
  }

  void Add(const std::string& name, std::string called, TunedArm arm) {
    AddArm(study_, name, std::move(called), arm.experiment);
    study_.reproduction.arms.back().fingerprint += "# " + how_;
    arms_.emplace(name, std::move(arm));
  }

  const Experiment base_;
  const bool full_;
  const double samples_;
  const Target target_;
  const std::string how_;  // results are judged
  Study study_;
  TunedRunner::Arms arms_;
  std::map<std::string, std::string> against_, fewer_buffered_;
};

}  // namespace

StatusOr<Study> MakeScadlesStudy(Effort effort, const std::filesystem::path& data_dir) {
  const Task task = TaskFor(data_dir);
  const Target target{task.target, 5};
  Builder builder(task, effort, target);
  Reproduction& reproduction = builder.study().reproduction;
  builder.study().seeds = {1, 2, 3};
  if (effort == Effort::kFull) builder.study().seeds = {1, 2, 3, 4, 5};
  builder.study().target_accuracy = task.target;

  builder.AddGrid();
  const std::string called[] = {"S1", "S2", "S1'", "S2'"};
  for (std::size_t i = 0; i < RateSettings().size(); ++i) builder.AddSetting(RateSettings()[i], called[i]);
  RateSetting lower = RateSettings()[0];
  lower.least = 4;
  builder.AddOtherRates(lower, "s1-clip4", "S1 clipped at 4", /*drawn=*/false);
  builder.AddOtherRates(RateSettings()[0], "s1-drawn", "S1 drawn at random", /*drawn=*/true);
  builder.AddOtherRates(RateSettings()[2], "s1p-drawn", "S1' drawn at random", /*drawn=*/true);
  builder.AddCompression(0.1, 0.1, 0.29);
  builder.AddCompression(0.1, 0.2, 0.99);
  builder.AddCompression(0.1, 0.3, 1.0);
  builder.AddCompression(0.01, 0.1, 0);
  builder.AddCompression(0.01, 0.2, 0.17);
  builder.AddCompression(0.01, 0.3, 0.43);
  builder.AddCompression(0.01, 0.4, 0.99);
  const double skewed = effort == Effort::kFull ? 120'000 : 24'000;
  builder.AddSkewed("one-label", "10 devices of one label each", {}, skewed);
  builder.AddSkewed("one-label-0.1", "+ injection, a tenth share a tenth", {0.1, 0.1}, skewed);
  builder.AddSkewed("one-label-0.25", "+ injection, a quarter share a quarter", {0.25, 0.25}, skewed);

  for (const Claims& claims : kClaims) {
    for (const char* side : {"-paper", "-ours", "-best"}) {
      reproduction.published.push_back(
          {claims.rates + side, "speed-up", claims.speed_up, "ResNet-152, whole system"});
      reproduction.published.push_back(
          {claims.rates + side, "accuracy gained", claims.accuracy, "likewise, top-5"});
    }
  }
  reproduction.published.push_back(
      {"s1-weights", "speed-up", 3.33, "ResNet-152, weighted aggregation alone"});
  reproduction.published.push_back({"s1p-weights", "speed-up", 3.6, "likewise, about"});
  reproduction.name = "scadles";
  reproduction.about =
      "ScaDLES (Tyagi & Swany, IEEE BigData 2022): 16 devices whose samples arrive at unequal rates, against "
      "conventional "
      "training with 64 samples of each. A perceptron learns " +
      task.set +
      "; time and bytes are those of ResNet-152 over "
      "links of 5 Gbit/s, where a conventional step takes about 1.2 s, four fifths of it exchange.";
  reproduction.metrics = {{"time to target", "s", Metric::Better::kLower, {.decimals = 0}},
                          {"seconds per round", "s", Metric::Better::kLower, {.decimals = 2}},
                          {"final accuracy", "", Metric::Better::kHigher, {.decimals = 2, .percent = true}},
                          {"buffered samples", "", Metric::Better::kLower, {.decimals = 0}},
                          {"compressed steps", "", Metric::Better::kHigher, {.decimals = 2}},
                          {"megabytes per update", "MB", Metric::Better::kLower, {.decimals = 1}},
                          {"kilobytes injected", "kB", Metric::Better::kLower, {.decimals = 0}}};
  const std::string percent = FormatNumber(std::round(1000 * task.target) / 10);
  reproduction.chart = {.title = "Streams of unequal rate: accuracy over time",
                        .x_title = "virtual seconds",
                        .y_title = "test accuracy",
                        .log_x = true,
                        .references = {{task.target, "target"}}};
  reproduction.notes = {
      "Rates are the quantiles (i - 1/2)/16 of the published distributions, S1 clipped at 12. Every arm of a "
      "setting learns "
      "from about as many samples. Time to target is when the mean of five evaluations in a row first "
      "reached " +
          percent +
          " %; final accuracy is the mean over the last fifth of the evaluations. Both are top-1, the "
          "paper's top-5.",
      "The learning rate is the best of 0.02, 0.05, 0.1 and 0.2 for conventional training at its own batch, "
      "by time to "
      "target with the first seed; all other arms scale that one. Conventional training takes the same steps "
      "on the same "
      "batches whatever the rates, so one grid, at S2', is that of all settings.",
      "Compressed steps are those that sent less than half the bytes of the weights; bytes are those on the "
      "wire, places "
      "included. Weights go to devices whole, so compression can save no more than half of an exchange.",
      "The perceptron's gradients are spread more evenly than those of ResNet-152: a tenth of them holds "
      "less of their "
      "norm, which is why the published ratio and delta compress less often here, and cost steps where they "
      "do. The table "
      "of ratios and deltas is of a small CNN, as are its bytes a share of ResNet-152's.",
      "The devices of one label train ResNet-8 at a rate of 0.1; injected bytes are both ways, of all "
      "devices, per round."};
  return std::move(builder).Finish();
}

}  // namespace tributary::inline reproduce
