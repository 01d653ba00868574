// Global batches from unequal clients: uniform global and latent Dirichlet sampling against fixed batches per client. A
// small CNN learns in two halves; the clients' answers take as long as those of a fleet with stragglers.

#include <cmath>
#include <memory>

#include "tributary/experiment/format.h"
#include "tributary/reproduce/split_measurement.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::int64_t kBatch = 128;  // of all clients together
constexpr double kAnswer = 0.05;      // set-up of each of a step's four messages, seconds
constexpr double kSlower = 10;        // and so many times that for a straggler, of which there is
constexpr std::int64_t kOneIn = 8;    //   one in so many clients
constexpr double kChosenDelta = 2;
// Over which latent Dirichlet sampling is followed; the quick effort trains at some of them and plans at all.
struct Delta {
  double value = 0;
  bool quick = false;
};
constexpr Delta kDeltas[] = {{0.25, false}, {0.5, true},          {1, true},
                             {1.5, false},  {kChosenDelta, true}, {3, true}};
const std::string kCentral = "central";
const std::string kUniform = "k16-c2-ugs";  // which LDS is at δ = 0

// How much is learnt from.
struct Length {
  std::optional<std::size_t> train_limit, test_limit;
  std::int64_t epochs = 0;
};

Group Clients(std::string name, std::int64_t count) {
  Group group;
  group.name = std::move(name);
  group.count = count;
  group.compute = Distribution::Constant(1e13);
  group.uplink = group.downlink = Distribution::Constant(10e9);
  group.setup = Distribution::Constant(kAnswer);
  return group;
}

// A step waits for its slowest client, however many samples that one gives: delays are set-up, as in the paper's model.
std::vector<Group> Stragglers(std::int64_t clients) {
  Group slow = Clients("slow", clients / kOneIn);
  slow.setup = Distribution::Constant(kSlower * kAnswer);
  return {Clients("steady", clients - slow.count), slow};
}

// Delays of an exponential law: the quantiles (i − ½) / clients.
std::vector<Group> Exponential(std::int64_t clients) {
  Group group = Clients("clients", clients);
  group.setup = {Distribution::Kind::kList, {}};
  for (std::int64_t i = 0; i < clients; ++i) {
    const double rank = (static_cast<double>(i) + 0.5) / static_cast<double>(clients);
    group.setup.numbers.push_back(kAnswer * std::round(-1000 * std::log1p(-rank)) / 1000);
  }
  return {group};
}

// Stragglers that compute slowly: here a step waits the longer the more samples a slow client gives.
std::vector<Group> SlowToCompute(std::int64_t clients) {
  std::vector<Group> groups = Stragglers(clients);
  for (Group& group : groups) {
    const double slower = group.setup.numbers[0] / kAnswer;
    group.setup = Distribution::Constant(0);
    group.compute = Distribution::Constant(1e8 / slower);
  }
  return groups;
}

Experiment Base(const std::string& set, const Length& length) {
  Experiment experiment;
  experiment.goal.name = "psl";
  experiment.model.name = "cnn";
  experiment.data.set = set;
  experiment.data.train_limit = length.train_limit;
  experiment.data.test_limit = length.test_limit;
  experiment.fleet.servers = {Server{{1e12}, {1e12}}};
  experiment.train.method = Method::kSplit;
  experiment.train.batch = kBatch;
  experiment.train.schedule.name = "constant";
  experiment.train.schedule.learning_rate = 0.05;
  experiment.split.cut = "pool1";
  experiment.split.server_compute = {1e13};
  return experiment;
}

void Deal(Experiment& experiment, std::vector<Group> groups, int classes) {
  experiment.fleet.groups = std::move(groups);
  experiment.data.split.kind = "extended-dirichlet";
  experiment.data.split.alpha = 3;
  experiment.data.split.classes_per_device = classes;
}

SamplingOptions Of(SamplingMethod method) {
  SamplingOptions sampling;
  sampling.method = method;
  return sampling;
}

SamplingOptions Dirichlet(double delta, StepOrder order = StepOrder::kShuffled) {
  SamplingOptions sampling = Of(SamplingMethod::kLatentDirichlet);
  sampling.delta = delta;
  sampling.order = order;
  return sampling;
}

// Gathers the arms and how they are compared.
class Builder {
 public:
  Builder(const std::string& set, const Length& length) : base_(Base(set, length)), epochs_(length.epochs) {
    Experiment experiment = base_;
    experiment.data.split.kind = "iid";
    experiment.fleet.groups = {Clients("centre", 1)};
    Add(kCentral, "all samples in one place", std::move(experiment));
  }

  // Fixed batches, and global ones, where each of so many clients has so many classes.
  void AddSetting(std::int64_t clients, int classes, bool sequential) {
    const std::string setting = "k" + std::to_string(clients) + "-c" + std::to_string(classes) + "-";
    const std::string called =
        std::to_string(clients) + " clients of " + std::to_string(classes) + " classes: ";
    Experiment experiment = base_;
    Deal(experiment, Stragglers(clients), classes);
    const auto add = [&](SamplingMethod method, const std::string& text) {
      const std::string name = setting + std::string(NameOf(method));
      experiment.sampling = Of(method);
      against_central_[name] = kCentral;
      if (method != SamplingMethod::kEqual)
        above_equal_[name] = setting + std::string(NameOf(SamplingMethod::kEqual));
      Add(name, called + text, experiment);
    };
    if (sequential) add(SamplingMethod::kSequential, "one client after the other");
    add(SamplingMethod::kEqual, "equal batches of all (FLS)");
    add(SamplingMethod::kProportional, "batches in proportion to their samples (FPLS)");
    add(SamplingMethod::kUniformGlobal, "uniform global sampling (UGS)");
  }

  // Latent Dirichlet sampling, and the shortest epochs found within its deviation.
  void AddTradeOff(double delta, bool latent_trained, bool deadline_trained) {
    const std::string text = FormatNumber(delta);
    Experiment experiment = base_;
    Deal(experiment, Stragglers(16), 2);
    experiment.sampling = Dirichlet(delta);
    AgainstUniform("lds-" + text);
    Add("lds-" + text, "latent Dirichlet sampling (LDS), δ = " + text + ", steps shuffled", experiment,
        latent_trained ? epochs_ : 0);
    latent_.push_back("lds-" + text);

    AddDeadline("deadline-" + text, "LDS at δ = " + text, "lds-" + text, Dirichlet(delta), deadline_trained);
  }

  // The shortest epochs found within the deviation of UGS, which is LDS at δ = 0.
  void AddUniformDeadline() {
    AddDeadline("deadline-ugs", "UGS", kUniform, Of(SamplingMethod::kUniformGlobal), /*trained=*/true);
  }

  void AddEarly(double delta) {
    const std::string text = FormatNumber(delta);
    Experiment experiment = base_;
    Deal(experiment, Stragglers(16), 2);
    experiment.sampling = Dirichlet(delta, StepOrder::kEarly);
    AgainstUniform("lds-" + text + "-early");
    Add("lds-" + text + "-early", "LDS, δ = " + text + ", slow clients' steps first, as in the paper",
        experiment);
    early_.push_back("lds-" + text + "-early");
  }

  // The samplers on clients with other delays. What UGS learns does not depend on these, so it is only timed.
  void AddDelays(const std::string& name, const std::string& called, const std::vector<Group>& groups,
                 bool trained) {
    Experiment experiment = base_;
    Deal(experiment, groups, 2);
    const auto add = [&](const std::string& arm, const std::string& text, const SamplingOptions& sampling,
                         bool whole, std::optional<SamplingOptions> bound = {}) {
      experiment.sampling = sampling;
      Add(name + "-" + arm, called + ": " + text, experiment, whole ? epochs_ : 1, std::move(bound));
    };
    add("ugs", "UGS, timed only", Of(SamplingMethod::kUniformGlobal), false);
    const SamplingOptions latent = Dirichlet(kChosenDelta);
    const std::string delta = FormatNumber(kChosenDelta);
    add("lds", "LDS, δ = " + delta + (trained ? "" : ", timed only"), latent, trained);
    add("deadline", "the shortest epoch found within its deviation, timed only",
        Of(SamplingMethod::kDeadline), false, latent);
    for (const char* arm : {"-lds", "-deadline"}) saved_[name + arm] = name + "-ugs";
    of_latent_[name + "-deadline"] = name + "-lds";
    if (trained) against_uniform_[name + "-lds"] = kUniform;
  }

  Study Finish() && {
    const NumberFormat points{.decimals = 2, .percent = true};
    Reproduction& reproduction = study_.reproduction;
    reproduction.comparisons = {
        {"against central", "accuracy", BaselineComparison::Kind::kDifference, against_central_, points},
        {"above fls", "accuracy", BaselineComparison::Kind::kDifference, above_equal_, points},
        {"against ugs", "accuracy", BaselineComparison::Kind::kDifference, against_uniform_, points},
        {"time saved",
         "seconds per epoch",
         BaselineComparison::Kind::kSaving,
         saved_,
         {.decimals = 1, .percent = true}},
        {"planned, of lds",
         "planned seconds",
         BaselineComparison::Kind::kRatio,
         of_latent_,
         {.decimals = 3}}};
    const std::string seconds = "virtual seconds per epoch";
    reproduction.figure_charts = {
        {"deviation",
         "What shorter epochs cost in batches unlike the whole",
         "planned seconds",
         "deviation",
         "planned " + seconds,
         "mean deviation of a batch",
         {{"LDS over δ", latent_}, {"deadline", deadline_}}},
        {"accuracy",
         "What shorter epochs cost in accuracy",
         "seconds per epoch",
         "accuracy",
         seconds,
         "test accuracy",
         {{"LDS over δ, shuffled", latent_}, {"LDS, slow clients first", early_}, {"deadline", deadline_}}}};
    study_.runner = [arms = std::move(arms_)](const SimulationOptions& options) -> ArmRunner {
      return [arms, options, clock = std::shared_ptr<const Clock>(MakeRealClock())](
                 const Arm& arm, std::uint64_t seed) -> StatusOr<Measurement> {
        const auto found = arms.find(arm.name);
        if (found == arms.end()) return NotFound("no such arm: " + arm.name);
        TRIBUTARY_ASSIGN_OR_RETURN(Measurement measurement,
                                   MeasureSplit(found->second, seed, *clock, options));
        if (!IsDrawn(arm.name)) measurement.curve.clear();
        return measurement;
      };
    };
    return std::move(study_);
  }

  Study& study() { return study_; }

 private:
  static bool IsDrawn(const std::string& arm) {
    const std::string chosen = FormatNumber(kChosenDelta);
    return arm == "k16-c2-fls" || arm == kUniform || arm == "lds-" + chosen ||
           arm == "lds-" + chosen + "-early" || arm == "deadline-ugs" || arm == "deadline-" + chosen;
  }

  void AddDeadline(const std::string& name, const std::string& called, const std::string& arm,
                   const SamplingOptions& bound, bool trained) {
    Experiment experiment = base_;
    Deal(experiment, Stragglers(16), 2);
    experiment.sampling = Of(SamplingMethod::kDeadline);
    AgainstUniform(name);
    of_latent_[name] = arm;
    Add(name, "the shortest epoch found within the deviation of " + called, experiment, trained ? epochs_ : 0,
        bound);
    deadline_.push_back(name);
  }

  void AgainstUniform(const std::string& name) { against_uniform_[name] = saved_[name] = kUniform; }

  void Add(const std::string& name, std::string called, Experiment experiment) {
    Add(name, std::move(called), std::move(experiment), epochs_);
  }
  void Add(const std::string& name, std::string called, Experiment experiment, std::int64_t trained,
           std::optional<SamplingOptions> bound = {}) {
    std::string fingerprint = FormatExperiment(experiment) + "# epochs " + std::to_string(epochs_) +
                              ", trained " + std::to_string(trained);
    if (bound)
      fingerprint += ", within " + std::string(NameOf(bound->method)) + " " + FormatNumber(bound->delta);
    study_.reproduction.arms.push_back({name, std::move(called), std::move(fingerprint)});
    study_.experiments.emplace(name, experiment);
    arms_.emplace(name, SplitArm{std::move(experiment), epochs_, trained, std::move(bound)});
  }

  const Experiment base_;
  const std::int64_t epochs_;
  Study study_;
  std::map<std::string, SplitArm> arms_;
  std::map<std::string, std::string> against_central_, above_equal_, against_uniform_, saved_, of_latent_;
  std::vector<std::string> latent_ = {kUniform}, early_ = {kUniform}, deadline_;
};

std::vector<Published> PublishedFigures() {
  const std::string severe = "CIFAR-10, ResNet-18, 128 clients of 2 classes";
  const std::string upto = "up to; the setting is not known";
  const std::string chosen = "lds-" + FormatNumber(kChosenDelta);
  return {{"k32-c2-fls", "accuracy", 0.5888, severe},  {"k32-c2-fpls", "accuracy", 0.7005, severe},
          {"k32-c2-ugs", "accuracy", 0.8431, severe},  {"k32-c2-fpls", "above fls", 0.1117, severe},
          {"k32-c2-ugs", "above fls", 0.2543, severe}, {kUniform, "above fls", 0.341, upto},
          {chosen, "time saved", 0.62, upto},          {chosen + "-early", "time saved", 0.62, upto}};
}

}  // namespace

StatusOr<Study> MakePslStudy(Effort effort, const std::filesystem::path& data_dir) {
  const bool full = effort == Effort::kFull;
  std::error_code error;
  const bool found = !data_dir.empty() && std::filesystem::is_directory(data_dir / "fashion-mnist", error);
  const std::string set = found ? "fashion-mnist" : "glyphs";
  const Length length = full ? Length{{}, {}, 5} : Length{6000, 4000, 6};
  Builder builder(set, length);
  for (const std::int64_t clients : {16, 32}) {
    for (const int classes : {2, 5}) builder.AddSetting(clients, classes, full || classes == 2);
  }
  builder.AddUniformDeadline();
  for (const Delta& delta : kDeltas) {
    builder.AddTradeOff(delta.value, full || delta.quick, full || delta.value == kChosenDelta);
  }
  builder.AddEarly(kChosenDelta);
  builder.AddDelays("exponential", "exponential delays", Exponential(16), /*trained=*/full);
  builder.AddDelays("compute", "stragglers that compute slowly", SlowToCompute(16), /*trained=*/false);

  builder.study().seeds = {1, 2, 3};
  Reproduction& reproduction = builder.study().reproduction;
  reproduction.name = "psl";
  const std::string amount =
      full ? "all of its samples" : std::to_string(*length.train_limit) + " of its samples";
  reproduction.about =
      "Parallel split learning with global sampling (Kohankhaki et al., arXiv 2407.15738): a small CNN, cut "
      "after its "
      "first pooling, learns " +
      set + " (" + amount + ", " + std::to_string(length.epochs) +
      " epochs) in global batches "
      "of 128, by SGD at a rate of 0.05. Clients have 2 or 5 classes each; one in eight answers ten times "
      "more slowly.";
  reproduction.metrics = {{"accuracy", "", Metric::Better::kHigher, {.decimals = 2, .percent = true}},
                          {"seconds per epoch", "s", Metric::Better::kLower, {.decimals = 1}},
                          {"planned seconds", "s", Metric::Better::kLower, {.decimals = 1}},
                          {"deviation", "", Metric::Better::kLower, {.decimals = 3}},
                          {"steps", "", Metric::Better::kLower, {.decimals = 0}},
                          {"planning share", "", Metric::Better::kLower, {.decimals = 3, .percent = true}}};
  reproduction.published = PublishedFigures();
  reproduction.chart = {.title = "16 clients of 2 classes, two of them slow: accuracy over time",
                        .x_title = "virtual seconds",
                        .y_title = "test accuracy",
                        .log_x = false,
                        .references = {}};
  reproduction.notes = {
      "Accuracy is the mean over the last three epochs, evaluated at their ends. An epoch uses every sample "
      "once; that of "
      "FLS and FPLS lasts until the client with most has none left, so it has more steps, the last of them "
      "of few clients.",
      "Seconds are virtual. A step waits for its slowest client: 4 messages of 50 ms, or of 500 ms for one "
      "client in "
      "eight, whatever its samples; with exponential delays, 50 ms times the quantiles (i - 1/2)/16. Planned "
      "seconds are "
      "what the sampler took the epoch to last; where they differ from those of the run, sending and "
      "computing add to it.",
      "With stragglers that compute slowly, a client's time is in proportion to its samples, all of which it "
      "must go "
      "through in any order: putting them into fewer steps can save little. Published times are of a model "
      "in which it "
      "is the same for any number.",
      "Deviation is the L1 distance of a batch's expected class shares to those of all samples, the mean "
      "over steps. "
      "Arms of deadline keep within that of LDS at the same δ, or of UGS, which is δ = 0; planned, of lds is "
      "their time "
      "over that of LDS. Arms without an accuracy are planned only, or timed over one epoch.",
      "Planning share is what planning a run's epochs took of the run's real time on this machine, on one "
      "core."};
  if (!full) {
    reproduction.notes.push_back(
        "Runs this short end while accuracy still rises, and it goes up and down by a point or two from "
        "epoch to epoch: "
        "differences of a point between means of three seeds are within chance. On glyphs, which are learnt "
        "more slowly, "
        "they end further from what can be reached.");
  }
  return std::move(builder).Finish();
}

}  // namespace tributary::inline reproduce
