#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/data/batches.h"
#include "tributary/data/folder.h"
#include "tributary/data/stream.h"
#include "tributary/experiment/draw.h"
#include "tributary/experiment/quantity.h"
#include "tributary/fleet/availability.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/attacks/attack.h"
#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/split_codec.h"
#include "tributary/policy/dropout/round_choice.h"
#include "tributary/policy/injection/injection.h"
#include "tributary/policy/mixing/mixer.h"
#include "tributary/policy/optimisation/optimiser.h"
#include "tributary/policy/optimisation/schedule.h"
#include "tributary/policy/partitioning/class_greedy.h"
#include "tributary/policy/partitioning/split.h"
#include "tributary/policy/sampling/sampling.h"
#include "tributary/policy/scheduling/transfer_plan.h"
#include "tributary/policy/streaming/stream_batch.h"
#include "tributary/policy/trust/trust.h"

namespace tributary::inline experiment {

// An experiment as data: one struct per section of the file, one field per key (`time-budget` is
// time_budget). reader.h reads and writes it, and has checked the values and their combinations. *_options.cc
// documents the keys and when they are valid; comments here add what the file does not show.

// [experiment]: name and end of the run. At least one of rounds, time_budget and target_accuracy is set; the
// first one reached ends the run.
struct Goal {
  std::string name;
  std::string about;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> rounds;
  std::optional<Duration> time_budget;
  std::optional<double> target_accuracy;  // if the only limit, the run may never end
  std::int64_t evaluate_every = 1;
};

// [model]
struct ModelChoice {
  // A built-in network, built for the data's shape and classes; or the name of an imported network.
  std::string name;
  std::shared_ptr<const NetworkKind> own{};  // if `name` is that of an extension
  // The imported network (onnx = "FILE.onnx", or graph = "…" in the experiment.toml of a run).
  std::shared_ptr<const Graph> graph{};
  // File with the initial weights: that of `onnx` unless another is given. Empty: initialised from the seed.
  std::string weights{};
  bool new_head = false;
  std::vector<std::string> freeze{};  // model/model.h; freezing more is cheaper and learns less
  Stem stem = Stem::kAuto;
  std::optional<std::string> compute_as;
};

// Options of the split `submodular`; `stratified` uses some of them.
struct ShardChoice {
  // Shard sizes in proportion to the devices' speeds; otherwise equal.
  bool by_speed = true;
  // Features that samples are compared by: "pixels" or "pca:K" (data/labelled_features.h). Empty: pca:64, or
  // pixels if there are at most 64.
  std::string features;
  PartitionObjective objective = PartitionObjective::kMatchedCut;
  BlockChoice choice = BlockChoice::kFill;
  std::optional<double> width;  // of the kernel; the median distance by default
  friend bool operator==(const ShardChoice&, const ShardChoice&) = default;
};

enum class MeasuredOn { kTest, kTrain };

// [data]
struct DataChoice {
  // A known data set, or the path of a folder, which contains a slash.
  std::string set;
  std::shared_ptr<const DatasetKind> own{};  // if `set` is the name of an extension
  // Distribution of the samples over the devices; `devices`, `seed` and `speeds` are the experiment's.
  // Besides the kinds of SplitOptions there is "submodular", with the options `shards`.
  SplitOptions split;
  ShardChoice shards;
  std::optional<std::size_t> train_limit;
  std::optional<std::size_t> test_limit;
  MeasuredOn evaluate = MeasuredOn::kTest;
  double hold_out = 0;
  // Classes of a folder of images or recordings, in order. Empty: those that occur, sorted. The coordinator
  // sends them to its devices, so that class numbers agree.
  std::vector<std::string> classes;
  // How a folder of images or recordings (also har) is read.
  ImageSettings images;
  SensorSettings sensors;
};

// A parameter server, with an equal range of the parameters' bytes. Transfers share its rates fairly.
struct Server {
  BitsPerSecond up{1e9};    // received from devices
  BitsPerSecond down{1e9};  // sent to devices
  friend bool operator==(const Server&, const Server&) = default;
};

// [[fleet.group]]: devices that differ only in random draws.
struct Group {
  std::string name;
  std::int64_t count = 1;
  Distribution compute;                                  // MACs per second
  Distribution memory = Distribution::Constant(1e15);    // bytes; the default is unlimited in practice
  Distribution uplink;                                   // bits per second
  Distribution downlink;                                 // by default as uplink, drawn separately
  Distribution round_trip = Distribution::Constant(0);   // seconds
  Distribution setup = Distribution::Constant(0);        // seconds, for every message
  Distribution stream_rate = Distribution::Constant(0);  // samples per second; 0: no stream
  std::string stream_programme;         // how the rate changes (programme_text.h); empty: constant
  AvailabilityKind availability = 1.0;  // share of the compute rate over time
};

// [fleet]
struct FleetChoice {
  std::vector<Server> servers = {Server{}};
  Portion participation = Portion::Share(1.0);
  std::optional<Duration> deadline;
  Portion quorum = Portion::Count(1);
  std::vector<Group> groups;
};

enum class Method { kSyncSgd, kFederated, kSplit, kGossip };
enum class ServerOptimiserKind { kNone, kMomentum, kAdam, kYogi };

// How the coordinator moves the model along the mean of the devices' updates. federated only.
struct ServerOptimiser {
  ServerOptimiserKind kind = ServerOptimiserKind::kNone;
  double learning_rate = 1;  // by default 1 for momentum, 0.01 for adam and yogi
  double momentum = 0.9;     // momentum: closer to 1 averages over more rounds
  double beta1 = 0.9;        // adam, yogi: decay of the mean of updates
  double beta2 = 0.99;       // adam, yogi: decay of the mean of squared updates
  double tau = 1e-3;         // adam, yogi: larger adapts less to each parameter
  friend bool operator==(const ServerOptimiser&, const ServerOptimiser&) = default;
};

// [train]
struct Training {
  Method method = Method::kFederated;
  std::int64_t batch = 32;
  // One of the two is set under federated; other methods take one step by default.
  std::optional<std::int64_t> local_steps;
  std::optional<std::int64_t> local_epochs;
  // Used by devices (federated, gossip), by the coordinator (sync-sgd, split), or both (SplitFed).
  OptimiserOptions optimiser;
  // One step per round: milestones, warm-up and the end of the cosine count rounds.
  ScheduleOptions schedule;
  double label_smoothing = 0;
  AugmentOptions augment;
  double prox = 0;  // larger keeps devices closer together
  ServerOptimiser server_optimiser;
  // 0: the mean of the statistics that devices collected during training.
  std::int64_t calibrate = 0;
};

enum class DisturbanceKind {
  kVanish,         // does not answer in this round
  kCrashInUpload,  // disappears while it sends its result
  kLose,           // the result is sent and never arrives
  kCorrupt,        // the result arrives with wrong bytes
  kSlow,           // computes `factor` times slower
  kAttack,         // is hostile: sends another update than it has learnt
};

// [[disturbance]]: an injected fault.
struct Disturbance {
  struct All {
    friend bool operator==(All, All) = default;
  };

  DisturbanceKind kind = DisturbanceKind::kVanish;
  // All devices, the group with this name, or these devices.
  std::variant<All, std::string, std::vector<DeviceId>> devices;
  double share = 1;
  // These rounds, the first being 1; all if not set.
  std::optional<std::vector<RoundId>> rounds;
  double factor = 1;  // kSlow only
  Attack attack{};    // kAttack only
  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

enum class BufferPolicy {
  kPersist,   // keep every sample until it is used
  kTruncate,  // keep the newest, as many as the next batch takes
};

// [stream]: samples that arrive over time, for groups with a stream-rate and devices that read from a broker.
struct StreamChoice {
  // A custom stream (extensions.h) that every device reads from.
  struct Own {
    std::string kind;  // NAME or NAME:ARGUMENT
    StreamMaker maker;
    std::string argument;
  };
  std::optional<Own> own;
  // For groups without a stream-rate: replay speed of a recording, which repeats at its end.
  std::optional<double> recorded_speed;
  StreamBatchOptions batch;
  BufferPolicy buffer = BufferPolicy::kPersist;
  // Scaling of the learning rate, which is right for `base_batch` samples per device.
  RateScalingOptions scaling;
  std::int64_t base_batch = 64;
};

// How a split model is trained: as one network, step by step; or in rounds of local steps after which the
// client parts are averaged (SplitFed), with one replica of the server part per device (v1) or one server
// part that learns from the devices in turn (v2).
enum class SplitVariant { kParallel, kSplitFed1, kSplitFed2 };

// [split]: first layers on the devices, the rest on the coordinator.
struct SplitChoice {
  std::string cut = "auto";
  std::optional<std::string> tail;
  SplitPrecision activations = SplitPrecision::kFloat32;
  SplitPrecision gradients = SplitPrecision::kFloat32;
  // Compute rate of the coordinator, for virtual time and for choosing the cut.
  MacsPerSecond server_compute{1e11};
  SplitVariant variant = SplitVariant::kParallel;

  bool averages() const { return variant != SplitVariant::kParallel; }
};

enum class BatchSizes { kEqual, kSpeed };

// [gossip]: each device has its own model and averages it with those of its neighbours.
struct GossipChoice {
  // Topology and mixing rule. Nodes are device numbers.
  MixingOptions mixing;
  // kSpeed: in proportion to the devices' speeds, train.batch on average, so that all finish together.
  BatchSizes batches = BatchSizes::kEqual;
};

struct Experiment {
  Goal goal;
  ModelChoice model;
  DataChoice data;
  FleetChoice fleet;
  Training train;
  TransferOptions transfers;       // [transfers]
  CompressionOptions compression;  // [compression]
  StreamChoice stream;
  InjectionOptions injection;  // [injection]
  SplitChoice split;
  SamplingOptions sampling;  // [sampling]; batch and seed are the experiment's
  DropoutOptions dropout;    // [dropout]
  GossipChoice gossip;
  AggregationOptions aggregation;  // [aggregation]
  TrustOptions trust;              // [trust]
  std::vector<Disturbance> disturbances;

  // Whether train.batch counts the samples of all devices together.
  bool global_batch() const { return train.method == Method::kSplit && !split.averages(); }
};

inline constexpr std::int64_t kMostDevices = 1'000'000;

std::int64_t TotalDevices(const FleetChoice& fleet);

}  // namespace tributary::inline experiment
