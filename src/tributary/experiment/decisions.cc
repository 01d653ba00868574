// What users can switch on: the rows of docs/compatibility.md. A decision that is not here is not tested with every method.

#include "tributary/base/check.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/compatibility.h"
#include "tributary/policy/sampling/uniform_global.h"

namespace tributary {
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
  topic("Who holds which samples",
        {
            {"", "each class in shares drawn at random", {"data.split={kind=\"dirichlet\", alpha=0.3}"}},
            {"",
             "few classes on each device",
             {"data.split={kind=\"classes-per-device\", classes-per-device=3}"}},
            {"",
             "few classes, in shares drawn at random",
             {"data.split={kind=\"extended-dirichlet\", alpha=3, classes-per-device=4}"}},
            {"", "runs of samples sorted by class", {"data.split={kind=\"shards\", shards-per-device=2}"}},
            {"", "as much of each class, in proportion to speed", {"data.split=stratified"}},
            {"",
             "shards that stand for the whole, in proportion to speed",
             {"data.split={kind=\"submodular\", features=\"pixels\"}"}},
            {"", "what one person's sensor recorded", {"data.split=source"}, kRecordings},
            {"", "samples that devices keep to evaluate on", {"data.hold-out=0.25"}},
            {"", "measure on training samples", {"data.evaluate=train"}},
        });
  topic("The network", {
                           {"", "layers that keep their weights", {"model.freeze=[\"conv1\"]"}},
                           {"", "start from weights in a file", {"model.weights=./start.safetensors"}},
                           {"",
                            "a new last layer on weights from a file",
                            {"model.new-head=true"},
                            {"model.weights=./start.safetensors"}},
                           {"", "charge the time and bytes of another network", {"model.compute-as=cnn"}},
                           {"", "the form for large images", {"model.stem=imagenet"}, kNorms},
                       });
  topic("The fleet and its rounds",
        {
            {"", "some devices in each round", {"fleet.participation=2"}},
            {"",
             "a round's longest time",
             {"fleet.deadline=300ms"},
             {"disturbance=[{kind=\"slow\", devices=[1], factor=200}]"}},
            {"", "how many must answer", {"fleet.quorum=1.0"}, {Trouble("vanish")}},
            {"", "several servers", {"fleet.servers={count=2, up=\"50Mbit/s\", down=\"50Mbit/s\"}"}},
            {"", "devices that are busy with other things", kSteps},
            {"", "links with a delay", {"fleet.group.all.round-trip=20ms"}},
            {"", "messages that cost time", {"fleet.group.all.setup=5ms"}},
            {"", "the end by time", {"experiment.time-budget=1ms"}},
            {"", "the end by accuracy", {"experiment.target-accuracy=0.001"}},
            {"", "fewer evaluations", {"experiment.evaluate-every=2"}},
        });
  topic("Training",
        {
            {"", "steps between two exchanges", {"train.local-steps=3"}},
            {"", "epochs between two exchanges", {"train.local-epochs=1"}},
            {"", "Adam instead of SGD", {"train.optimiser=adam"}},
            {"", "momentum", {"train.momentum=0.9"}},
            {"", "momentum that looks ahead", {"train.nesterov=true"}, {"train.momentum=0.9"}},
            {"", "smaller weights", {"train.weight-decay=0.01"}},
            {"", "a rate that falls in steps", {"train.schedule=step", "train.milestones=[1]"}},
            {"", "a rate that falls along a cosine", {"train.schedule=cosine"}},
            {"", "a rate that rises first", {"train.warmup=2"}},
            {"", "softer labels", {"train.label-smoothing=0.1"}},
            {"", "mirrored and moved images", {"train.augment=standard"}},
            {"", "FedProx: devices are held near the common weights", {"train.prox=1.0"}},
            {"", "the mean of changes with momentum", {"train.server-optimiser=momentum"}},
            {"", "Adam on the mean of changes", {"train.server-optimiser=adam"}},
            {"", "Yogi on the mean of changes", {"train.server-optimiser=yogi"}},
            {"", "statistics of batch norms measured anew for evaluations", {"train.calibrate=1"}, kNorms},
        });
  topic("Where transfers are cut",
        {
            {"", "a segment per layer", {"transfers.strategy=layerwise"}},
            {"", "segments that computation covers", {"transfers.strategy=ibatch"}},
            {"", "the plan that ends first", {"transfers.strategy=optimal"}},
            {"", "a bound on a segment", {"transfers.largest-segment=1kB"}, kOptimal},
            {"", "when plans are made anew", {"transfers.drift=10"}, {kOptimal[0], kOptimal[1], kSteps[0]}},
        });
  topic("Which bytes of an update are sent",
        {
            {"", "the largest entries", {"compression.kind=top-k", "compression.ratio=0.05"}},
            {"", "the largest entries, when they say enough", {"compression.kind=adaptive-top-k"}},
            {"", "eight bits for each entry", {"compression.kind=int8"}},
            {"", "chosen over all layers together", {"compression.scope=global"}, kTopK},
            {"", "what is left out is forgotten", {"compression.error-feedback=false"}, kTopK},
            {"", "how much must be in what is sent", {"compression.delta=0.9"}, kAdaptive},
        });
  topic("Streams",
        {
            {"", "samples that arrive over time", kStream},
            {"",
             "rates that change",
             {"fleet.group.all.stream-programme=drift:1:4:500ms,stop:100ms,repeat"},
             kStream},
            {"", "samples when they were recorded", {"stream.recorded-speed=4"}, kRecordings},
            {"",
             "batches that follow the stream",
             {"stream.batch=stream-rate", "stream.window=4s"},
             {"fleet.group.all.stream-rate=4"}},
            {"", "a stream of one's own", {"stream.kind=mine"}},
            {"", "only the newest samples are kept", {"stream.buffer=truncate"}, kStream},
            {"", "a learning rate that follows the batch", {"stream.scaling=linear", "stream.base-batch=2"}},
            {"",
             "a learning rate that follows its root",
             {"stream.scaling=square-root", "stream.base-batch=2"}},
            {"", "samples that devices share", {"injection.devices=0.5", "injection.share=0.5"}},
        });
  topic("How many samples each client gives to the global batch",
        {
            {"", "uniform global sampling", {"sampling.method=ugs"}, {}, {"sampling.method=fls"}},
            {"", "latent Dirichlet sampling", {"sampling.method=lds"}, kDirichlet},
            {"", "how strong its prior is", {"sampling.concentration=0.1"}, kLatent},
            {"", "how much that favours slow clients", {"sampling.delta=5"}, kLatent},
            {"", "clients drawn as published", {"sampling.draw=pi"}, kLatent},
            {"", "slow clients' steps first, as published", {"sampling.order=early"}, kLatent},
            {"", "slow clients together, in few steps", {"sampling.method=deadline"}, kDirichlet},
            {"",
             "how far its steps' labels may be from those of all",
             {"sampling.max-deviation=0"},
             {kDirichlet[0], "sampling.method=deadline"}},
            {"", "equal shares", {"sampling.method=fls"}, kDirichlet},
            {"", "in proportion to what they have", {"sampling.method=fpls"}, kDirichlet},
            {"", "one client after the other", {"sampling.method=sequential"}},
            {"", "a sampler of one's own", {"sampling.method=mine"}},
        });
  topic(
      "How much of the network a device trains",
      {
          {"", "a small network for all", {"dropout.method=small", "dropout.width=0.5"}},
          {"", "every layer as wide as can be afforded", {"dropout.method=uniform"}, kTight},
          {"", "which widths there are", {"dropout.widths=[0.25, 1]"}, {kTight[0], "dropout.method=uniform"}},
          {"", "HeteroFL: a width for each device", {"dropout.method=heterofl"}, kTight},
          {"", "FjORD: widths that change in a round", {"dropout.method=fjord"}, kTight},
          {"", "FedRolex: another window of channels each round", {"dropout.method=fedrolex"}, kTight},
          {"",
           "DISTREAL: the best that can be afforded",
           {"dropout.method=pareto", "dropout.front=resnet8"},
           {kPareto[0], kPareto[1]}},
          {"", "the mean of those who trained it", {"dropout.mean=trained"}, kFjord},
          {"",
           "the first channels instead of random ones",
           {"dropout.channels=first"},
           kPareto,
           {"dropout.channels=random"}},
          {"", "what sub-networks cost by the clock", {"dropout.cost=time"}, kPareto},
          {"", "how what is left is scaled", {"dropout.scaling=inverse"}, kPareto},
      });
  topic("Networks that are cut", {
                                     {"", "where", {"split.cut=pool2"}, {}, {"split.cut=conv1"}},
                                     {"", "the last layers, and labels, on devices", {"split.tail=relu3"}},
                                     {"", "activations in 16 bits", {"split.activations=fp16"}},
                                     {"", "activations in 8 bits", {"split.activations=int8"}},
                                     {"", "gradients in 16 bits", {"split.gradients=fp16"}},
                                     {"", "gradients in 8 bits", {"split.gradients=int8"}},
                                     {"", "how fast the coordinator computes", {"split.server-compute=1G"}},
                                 });
  topic(
      "Who meets whom",
      {
          {"", "a circle", {"gossip.topology=ring"}, {}, {"gossip.topology=complete"}},
          {"", "a grid without edges", {"gossip.topology=torus"}, kEight},
          {"", "all with all", {"gossip.topology=complete"}},
          {"", "a cube", {"gossip.topology=hypercube"}, kEight},
          {"", "at random", {"gossip.topology={kind=\"erdos-renyi\", probability=0.6}"}, kEight},
          {"", "pairs that are listed", {"gossip.topology={kind=\"edges\", edges=[[0, 1], [1, 2], [2, 3]]}"}},
          {"", "how often", {"gossip.budget=0.2"}},
          {"", "larger batches on faster devices", {"gossip.batches=speed"}},
      });
  topic("What goes wrong",
        {
            {"", "devices that do not answer", {Trouble("vanish")}},
            {"", "devices that are gone while they send", {Trouble("crash-in-upload")}},
            {"", "results that never arrive", {Trouble("lose")}},
            {"", "results with wrong bytes", {Trouble("corrupt")}},
            {"", "devices that are slow", {"disturbance=[{kind=\"slow\", devices=[1, 2], factor=20}]"}},
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

}  // namespace tributary
