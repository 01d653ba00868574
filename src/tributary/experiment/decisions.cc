// What users can switch on: the rows of docs/compatibility.md. A decision that is not here is not tested with every method.

#include "tributary/base/check.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/compatibility.h"
#include "tributary/policy/sampling/plans_by_size.h"

namespace tributary::inline experiment {
namespace {

using Settings = std::vector<std::string>;

const Settings kStream = {"fleet.group.all.stream-rate=40"};
const Settings kSteps = {"fleet.group.all.availability={kind=\"steps\", period=\"20ms\", low=0.2, high=1.0}"};
const Settings kTopK = {"compression.kind=top-k"};
const Settings kAdaptive = {"compression.kind=adaptive-top-k"};
const Settings kOptimal = {"transfers.strategy=optimal", "fleet.group.all.setup=5ms"};
const Settings kTight = {"fleet.deadline=180ms"};
const Settings kFjord = {"fleet.deadline=180ms", "dropout.method=fjord"};
const Settings kPareto = {"model.name=resnet8", "fleet.deadline=1s", "dropout.method=pareto",
                          "dropout.front=resnet8"};
const Settings kDirichlet = {"data.split={kind=\"dirichlet\", alpha=0.5}"};
const Settings kLatent = {kDirichlet[0], "sampling.method=lds"};
const Settings kRecordings = {"data.set=./recordings/", "data.window=8", "data.hop=4", "model.name=mlp"};
const Settings kEight = {"fleet.group.all.count=8"};
const Settings kNorms = {"model.name=resnet8"};

// What a program of one's own might bring (docs/library.md).
class MySampler : public Sampler {
 public:
  SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene& scene) const override {
    Rng rng = Rng::ForStream(scene.seed, DeviceId{0}, "my-sampling", scene.epoch);
    return PlanUniformGlobal(problem, scene.batch, rng);
  }
};

StatusOr<std::unique_ptr<Stream>> MyStream(const StreamScene& scene) {
  TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme, RateProgramme::Make({100}));
  return MakeReplayStream(scene.dataset, scene.part,
                          PlayAtRate(std::move(programme), scene.part.size(), scene.seed, scene.device),
                          {.start = scene.start});
}

std::string Trouble(const std::string& kind) {
  return "disturbance=[{kind=\"" + kind + "\", devices=[1, 2], rounds=[2]}]";
}

std::vector<Decision> MakeDecisions() {
  std::vector<Decision> all;
  const auto topic = [&](std::string_view name, std::vector<Decision> decisions) {
    for (Decision& decision : decisions) {
      decision.topic = name;
      all.push_back(std::move(decision));
    }
  };
  topic("Data distribution",
        {
            {"", "Dirichlet label skew", {"data.split={kind=\"dirichlet\", alpha=0.3}"}},
            {"",
             "limited classes per device",
             {"data.split={kind=\"classes-per-device\", classes-per-device=3}"}},
            {"",
             "extended Dirichlet: limited classes with Dirichlet proportions",
             {"data.split={kind=\"extended-dirichlet\", alpha=3, classes-per-device=4}"}},
            {"", "shards of class-sorted samples", {"data.split={kind=\"shards\", shards-per-device=2}"}},
            {"", "stratified, sizes in proportion to speed", {"data.split=stratified"}},
            {"",
             "submodular shards, sizes in proportion to speed",
             {"data.split={kind=\"submodular\", features=\"pixels\"}"}},
            {"", "one recording source per device", {"data.split=source"}, kRecordings},
            {"", "hold-out samples on devices", {"data.hold-out=0.25"}},
            {"", "evaluation on training samples", {"data.evaluate=train"}},
        });
  topic("Network", {
                       {"", "frozen layers", {"model.freeze=[\"conv1\"]"}},
                       {"", "pre-trained weights", {"model.weights=./start.safetensors"}},
                       {"",
                        "pre-trained weights with a new last layer",
                        {"model.new-head=true"},
                        {"model.weights=./start.safetensors"}},
                       {"", "time and bytes of another network", {"model.compute-as=cnn"}},
                       {"", "ImageNet stem", {"model.stem=imagenet"}, kNorms},
                   });
  topic(
      "Fleet and rounds",
      {
          {"", "partial participation", {"fleet.participation=2"}},
          {"",
           "round deadline",
           {"fleet.deadline=300ms"},
           {"disturbance=[{kind=\"slow\", devices=[1], factor=200}]"}},
          {"", "quorum", {"fleet.quorum=1.0"}, {Trouble("vanish")}},
          {"", "several parameter servers", {"fleet.servers={count=2, up=\"50Mbit/s\", down=\"50Mbit/s\"}"}},
          {"", "varying processor availability", kSteps},
          {"", "link latency", {"fleet.group.all.round-trip=20ms"}},
          {"", "per-message set-up time", {"fleet.group.all.setup=5ms"}},
          {"", "time budget", {"experiment.time-budget=1ms"}},
          {"", "target accuracy", {"experiment.target-accuracy=0.001"}},
          {"", "evaluation interval", {"experiment.evaluate-every=2"}},
      });
  topic("Training", {
                        {"", "local steps", {"train.local-steps=3"}},
                        {"", "local epochs", {"train.local-epochs=1"}},
                        {"", "Adam", {"train.optimiser=adam"}},
                        {"", "momentum", {"train.momentum=0.9"}},
                        {"", "Nesterov momentum", {"train.nesterov=true"}, {"train.momentum=0.9"}},
                        {"", "weight decay", {"train.weight-decay=0.01"}},
                        {"", "step learning-rate schedule", {"train.schedule=step", "train.milestones=[1]"}},
                        {"", "cosine learning-rate schedule", {"train.schedule=cosine"}},
                        {"", "learning-rate warm-up", {"train.warmup=2"}},
                        {"", "label smoothing", {"train.label-smoothing=0.1"}},
                        {"", "data augmentation", {"train.augment=standard"}},
                        {"", "FedProx proximal term", {"train.prox=1.0"}},
                        {"", "server momentum (FedAvgM)", {"train.server-optimiser=momentum"}},
                        {"", "server Adam (FedAdam)", {"train.server-optimiser=adam"}},
                        {"", "server Yogi (FedYogi)", {"train.server-optimiser=yogi"}},
                        {"", "batch-norm calibration before evaluation", {"train.calibrate=1"}, kNorms},
                    });
  topic("Transfer scheduling",
        {
            {"", "one segment per layer", {"transfers.strategy=layerwise"}},
            {"", "iBatch", {"transfers.strategy=ibatch"}},
            {"", "optimal plan (DynaComm)", {"transfers.strategy=optimal"}},
            {"", "largest segment", {"transfers.largest-segment=1kB"}, kOptimal},
            {"", "re-planning threshold", {"transfers.drift=10"}, {kOptimal[0], kOptimal[1], kSteps[0]}},
        });
  std::vector<Decision> codecs;
  for (const CompressionKind& codec : Codecs()) {
    if (codec != Codecs().front()) codecs.push_back({"", codec->about, {"compression.kind=" + codec->name}});
  }
  topic("Update compression", std::move(codecs));
  topic("Update compression", {
                                  {"", "global top-k over all layers", {"compression.scope=global"}, kTopK},
                                  {"", "no error feedback", {"compression.error-feedback=false"}, kTopK},
                                  {"", "threshold of adaptive top-k", {"compression.delta=0.9"}, kAdaptive},
                              });
  std::vector<Decision> rules;
  for (const auto& rule : AggregationRules()) {
    if (rule != AggregationRules().front()) {
      rules.push_back({"", rule->about, {"aggregation.rule=" + rule->name}});
    }
  }
  topic("Aggregation", std::move(rules));
  topic("Streams",
        {
            {"", "streamed samples", kStream},
            {"",
             "varying stream rates",
             {"fleet.group.all.stream-programme=drift:1:4:500ms,stop:100ms,repeat"},
             kStream},
            {"", "recorded arrival times", {"stream.recorded-speed=4"}, kRecordings},
            {"",
             "stream-sized batches (ScaDLES)",
             {"stream.batch=stream-rate", "stream.window=4s"},
             {"fleet.group.all.stream-rate=4"}},
            {"", "custom stream", {"stream.kind=mine"}},
            {"", "truncated buffer", {"stream.buffer=truncate"}, kStream},
            {"", "linear learning-rate scaling", {"stream.scaling=linear", "stream.base-batch=2"}},
            {"", "square-root learning-rate scaling", {"stream.scaling=square-root", "stream.base-batch=2"}},
            {"", "data injection (ScaDLES)", {"injection.devices=0.5", "injection.share=0.5"}},
        });
  topic("Sampling of global batches",
        {
            {"", "uniform global sampling (UGS)", {"sampling.method=ugs"}, {}, {"sampling.method=fls"}},
            {"", "latent Dirichlet sampling (LDS)", {"sampling.method=lds"}, kDirichlet},
            {"", "LDS concentration", {"sampling.concentration=0.1"}, kLatent},
            {"", "LDS preference for slow clients", {"sampling.delta=5"}, kLatent},
            {"", "LDS draw as published", {"sampling.draw=pi"}, kLatent},
            {"", "LDS order as published", {"sampling.order=early"}, kLatent},
            {"", "deadline sampling", {"sampling.method=deadline"}, kDirichlet},
            {"",
             "deadline sampling: largest label deviation",
             {"sampling.max-deviation=0"},
             {kDirichlet[0], "sampling.method=deadline"}},
            {"", "fixed equal shares (FLS)", {"sampling.method=fls"}, kDirichlet},
            {"", "fixed proportional shares (FPLS)", {"sampling.method=fpls"}, kDirichlet},
            {"", "sequential clients", {"sampling.method=sequential"}},
            {"", "custom sampler", {"sampling.method=mine"}},
        });
  topic("Sub-networks",
        {
            {"", "one small network for all devices", {"dropout.method=small", "dropout.width=0.5"}},
            {"", "uniform width that fits the deadline", {"dropout.method=uniform"}, kTight},
            {"", "choice of widths", {"dropout.widths=[0.25, 1]"}, {kTight[0], "dropout.method=uniform"}},
            {"", "HeteroFL: fixed width per device", {"dropout.method=heterofl"}, kTight},
            {"", "FjORD: ordered dropout within a round", {"dropout.method=fjord"}, kTight},
            {"", "FedRolex: rolling window of channels", {"dropout.method=fedrolex"}, kTight},
            {"",
             "DISTREAL: Pareto-optimal sub-network at run time",
             {"dropout.method=pareto", "dropout.front=resnet8"},
             {kPareto[0], kPareto[1]}},
            {"", "mean over devices that trained an element", {"dropout.mean=trained"}, kFjord},
            {"",
             "first channels instead of random channels",
             {"dropout.channels=first"},
             kPareto,
             {"dropout.channels=random"}},
            {"", "measured sub-network cost", {"dropout.cost=time"}, kPareto},
            {"", "inverse scaling of kept filters", {"dropout.scaling=inverse"}, kPareto},
        });
  topic("Split learning", {
                              {"", "cut layer", {"split.cut=pool2"}, {}, {"split.cut=conv1"}},
                              {"", "U-shaped split: last layers and labels on devices", {"split.tail=relu3"}},
                              {"", "16-bit activations", {"split.activations=fp16"}},
                              {"", "8-bit activations", {"split.activations=int8"}},
                              {"", "16-bit gradients", {"split.gradients=fp16"}},
                              {"", "8-bit gradients", {"split.gradients=int8"}},
                              {"", "compute rate of the coordinator", {"split.server-compute=1G"}},
                          });
  topic("Gossip topology",
        {
            {"", "ring", {"gossip.topology=ring"}, {}, {"gossip.topology=complete"}},
            {"", "torus", {"gossip.topology=torus"}, kEight},
            {"", "complete graph", {"gossip.topology=complete"}},
            {"", "hypercube", {"gossip.topology=hypercube"}, kEight},
            {"", "Erdős–Rényi graph", {"gossip.topology={kind=\"erdos-renyi\", probability=0.6}"}, kEight},
            {"", "explicit edges", {"gossip.topology={kind=\"edges\", edges=[[0, 1], [1, 2], [2, 3]]}"}},
            {"", "communication budget (MATCHA)", {"gossip.budget=0.2"}},
            {"", "batch size in proportion to speed", {"gossip.batches=speed"}},
        });
  topic("Faults", {
                      {"", "devices that vanish", {Trouble("vanish")}},
                      {"", "crashes during upload", {Trouble("crash-in-upload")}},
                      {"", "lost updates", {Trouble("lose")}},
                      {"", "corrupted updates", {Trouble("corrupt")}},
                      {"", "slow devices", {"disturbance=[{kind=\"slow\", devices=[1, 2], factor=20}]"}},
                  });
  return all;
}

}  // namespace

std::span<const MethodChoice> MethodChoices() {
  static const std::vector<MethodChoice> kAll = {
      {"sync-sgd", {"train.method=sync-sgd"}},
      {"federated", {"train.method=federated", "train.local-steps=2"}},
      {"split", {"train.method=split", "train.batch=32", "split.server-compute=200M"}},
      {"splitfed-v1",
       {"train.method=split", "split.variant=splitfed-v1", "split.server-compute=200M",
        "train.local-steps=2"}},
      {"splitfed-v2",
       {"train.method=split", "split.variant=splitfed-v2", "split.server-compute=200M",
        "train.local-steps=2"}},
      {"d-psgd", {"train.method=gossip", "train.local-steps=2"}},
      {"matcha", {"train.method=gossip", "gossip.algorithm=matcha", "train.local-steps=2"}}};
  return kAll;
}

std::span<const Decision> Decisions() {
  static const std::vector<Decision> kAll = MakeDecisions();
  return kAll;
}

const Extensions& PairExtensions() {
  static const Extensions kMine = [] {
    Extensions extensions;
    TRIBUTARY_CHECK(extensions.AddSampler("mine", std::make_shared<MySampler>()).ok());
    TRIBUTARY_CHECK(extensions.AddStream("mine", MyStream).ok());
    return extensions;
  }();
  return kMine;
}

std::string_view PairExperiment() {
  return R"toml(schema = 1
[experiment]
name = "pair"
rounds = 3
[model]
name = "lenet5"
[data]
set = "glyphs"
split = "iid"
train-limit = 64
test-limit = 16
[[fleet.group]]
name = "all"
count = 4
compute = ["100M", "500M", "50M", "500M"]
uplink = "100Mbit/s"
[train]
batch = 4
learning-rate = 0.05
)toml";
}

}  // namespace tributary::inline experiment
