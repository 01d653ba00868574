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

namespace tributary::inline experiment {

// An experiment as data: one struct per section of its file, one field per key (`time-budget` is time_budget). Made by
// reader.h, which has checked every value and that they fit each other, and written back by it too. What the keys
// mean, and when they are valid, is said where they are listed (*_options.cc); here, what is not seen in the file.

// [experiment]: what it is called, and when it is over. At least one of the three ends is set; the first that is
// reached counts.
struct Goal {
  std::string name;
  std::string about;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> rounds;
  std::optional<Duration> time_budget;
  std::optional<double> target_accuracy;  // alone, a run that never gets there goes on until it is stopped
  std::int64_t evaluate_every = 1;
};

// [model]
struct ModelChoice {
  // A network of the zoo, built for the data's shape and classes; or what a network that was brought is called.
  std::string name;
  // A network that was brought (onnx = "FILE.onnx", or graph = "…" in an experiment as run).
  std::shared_ptr<const Graph> graph{};
  // The file whose weights training starts from; empty: the seed's initial values. That of `onnx`, unless another is named.
  std::string weights{};
  bool new_head = false;
  std::vector<std::string> freeze{};  // model/model.h; more is cheaper and learns less
  Stem stem = Stem::kAuto;
  std::optional<std::string> compute_as;
};

// How the split `submodular` divides, and what `stratified` shares with it.
struct ShardChoice {
  // In proportion to the speeds of the fleet's devices; otherwise all alike.
  bool by_speed = true;
  // What samples are compared by: "pixels" or "pca:K" (data/labelled_features.h); empty is pca:64, or pixels where there are
  // no more than that.
  std::string features;
  PartitionObjective objective = PartitionObjective::kMatchedCut;
  BlockChoice choice = BlockChoice::kFill;
  std::optional<double> width;  // of the kernel; by default the median distance
  friend bool operator==(const ShardChoice&, const ShardChoice&) = default;
};

enum class MeasuredOn { kTest, kTrain };

// [data]
struct DataChoice {
  // A known data set, or the path of a folder, recognised by its slash.
  std::string set;
  // Who holds which samples. Its `devices`, `seed` and `speeds` are those of the experiment. Beside the kinds that it knows
  // itself there is "submodular", which `shards` is for.
  SplitOptions split;
  ShardChoice shards;
  std::optional<std::size_t> train_limit;
  std::optional<std::size_t> test_limit;
  MeasuredOn evaluate = MeasuredOn::kTest;
  double hold_out = 0;
  // Of a folder of pictures or recordings: its classes, in their order. Empty: those that occur, sorted. A coordinator tells
  // its devices, so that a class has the same number everywhere.
  std::vector<std::string> classes;
  // How a folder of pictures is read, and folders of recordings (also those of har).
  ImageSettings images;
  SensorSettings sensors;
};

// One of the servers that hold the parameters, each an equal range of their bytes. The transfers in progress share its
// rates fairly.
struct Server {
  BitsPerSecond up{1e9};    // what it can take from devices
  BitsPerSecond down{1e9};  // what it can send to them
  friend bool operator==(const Server&, const Server&) = default;
};

// [[fleet.group]]: devices alike but for chance.
struct Group {
  std::string name;
  std::int64_t count = 1;
  Distribution compute;                                 // MACs per second
  Distribution memory = Distribution::Constant(1e15);   // bytes; the default is no limit in practice
  Distribution uplink;                                  // bits per second
  Distribution downlink;                                // as uplink, drawn apart from it, when not given
  Distribution round_trip = Distribution::Constant(0);  // seconds
  Distribution setup = Distribution::Constant(0);       // seconds, for every message
  Distribution stream_rate =
      Distribution::Constant(0);  // samples per second; 0: the data are there from the start
  std::string stream_programme;   // what becomes of the rate over time (programme_text.h); empty: nothing
  AvailabilityKind availability = 1.0;  // of the compute rate, over time
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

// How the coordinator moves the model along the mean of what devices have learned. federated only.
struct ServerOptimiser {
  ServerOptimiserKind kind = ServerOptimiserKind::kNone;
  double learning_rate = 1;  // by default 1 for momentum, 0.01 for adam and yogi
  double momentum = 0.9;     // momentum: nearer to one smooths over more rounds
  double beta1 = 0.9;        // adam, yogi: likewise for the mean of updates
  double beta2 = 0.99;       //   and for that of their squares
  double tau = 1e-3;         // adam, yogi: larger adapts less to each parameter
  friend bool operator==(const ServerOptimiser&, const ServerOptimiser&) = default;
};

// [train]
struct Training {
  Method method = Method::kFederated;
  std::int64_t batch = 32;
  // One of the two under federated; elsewhere one step by default.
  std::optional<std::int64_t> local_steps;
  std::optional<std::int64_t> local_epochs;
  // Used by devices (federated, gossip), by the coordinator (sync-sgd, split), or both (SplitFed).
  OptimiserOptions optimiser;
  // Its steps are rounds: milestones, warm-up and the end of the cosine count them.
  ScheduleOptions schedule;
  double label_smoothing = 0;
  AugmentOptions augment;
  double prox = 0;  // larger keeps devices together
  ServerOptimiser server_optimiser;
  // 0 takes the mean of the statistics that devices had while they trained.
  std::int64_t calibrate = 0;
};

enum class DisturbanceKind {
  kVanish,         // does not answer in this round
  kCrashInUpload,  // is gone in the middle of sending its result
  kLose,           // the result never arrives, though it was sent
  kCorrupt,        // the result arrives with wrong bytes
  kSlow,           // computes `factor` times slower
  kAttack,         // is hostile: sends another update than it has learnt
};

// [[disturbance]]: what goes wrong, for scenarios.
struct Disturbance {
  struct All {
    friend bool operator==(All, All) = default;
  };

  DisturbanceKind kind = DisturbanceKind::kVanish;
  // All, the devices of the group of this name, or these.
  std::variant<All, std::string, std::vector<DeviceId>> devices;
  double share = 1;
  // In every round, or in these; the first round is 1.
  std::optional<std::vector<RoundId>> rounds;
  double factor = 1;  // slow only
  Attack attack{};    // attack only
  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

enum class BufferPolicy {
  kPersist,   // every sample is kept until it is used
  kTruncate,  // the newest are kept, as many as the next batch takes
};

// [stream]: what becomes of samples that arrive over time. For groups with a stream-rate, and for devices that read from
// a broker.
struct StreamChoice {
  // Every device's samples come from a stream that the program was given (extensions.h).
  struct Own {
    std::string kind;  // NAME or NAME:ARGUMENT
    StreamMaker maker;
    std::string argument;
  };
  std::optional<Own> own;
  // For devices of groups without a stream-rate. At its end a recording starts over.
  std::optional<double> recorded_speed;
  StreamBatchOptions batch;
  BufferPolicy buffer = BufferPolicy::kPersist;
  // Of the learning rate, which is taken to be right for `base_batch` samples of each device.
  RateScalingOptions scaling;
  std::int64_t base_batch = 64;
};

// How a network that is cut is trained: as one, a step at a time; or in rounds of local steps after which fronts are
// averaged (SplitFed), with a copy of the rest for each device (v1), or one that learns from each in turn (v2).
enum class SplitVariant { kParallel, kSplitFed1, kSplitFed2 };

// [split]: the network's first layers on devices, the rest on the coordinator.
struct SplitChoice {
  std::string cut = "auto";
  std::optional<std::string> tail;
  SplitPrecision activations = SplitPrecision::kFloat32;
  SplitPrecision gradients = SplitPrecision::kFloat32;
  // How fast the coordinator is taken to compute: in virtual time, and to choose a cut.
  MacsPerSecond server_compute{1e11};
  SplitVariant variant = SplitVariant::kParallel;

  bool averages() const { return variant != SplitVariant::kParallel; }
};

enum class BatchSizes { kEqual, kSpeed };

// [gossip]: devices have models of their own and average them with their neighbours'.
struct GossipChoice {
  // Who may meet whom, and how often. Nodes are devices, by number.
  MixingOptions mixing;
  // `speed`: in proportion to the devices' speeds, train.batch on average, so that all are done at the same time.
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
  SamplingOptions sampling;  // [sampling]; its batch and seed are those of the experiment
  DropoutOptions dropout;    // [dropout]
  GossipChoice gossip;
  AggregationOptions aggregation;  // [aggregation]
  std::vector<Disturbance> disturbances;

  // Whether train.batch is of all devices together.
  bool global_batch() const { return train.method == Method::kSplit && !split.averages(); }
};

inline constexpr std::int64_t kMostDevices = 1'000'000;

std::int64_t TotalDevices(const FleetChoice& fleet);

}  // namespace tributary::inline experiment
