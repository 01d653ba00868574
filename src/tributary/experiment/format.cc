#include "tributary/experiment/format.h"

#include <algorithm>

#include "tributary/experiment/quantity.h"
#include "tributary/experiment/vocabulary.h"
#include "tributary/fleet/front_file.h"
#include "tributary/model/graph_text.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline experiment {
namespace {

// One key a line. Which keys are written follows the readers' OnlyWith: one without a meaning would be refused.
class Writer {
 public:
  void Section(std::string_view heading) { text_ += "\n" + std::string(heading) + "\n"; }
  void Raw(std::string_view key, std::string_view value) {
    text_ += std::string(key) + " = " + std::string(value) + "\n";
  }
  void Put(std::string_view key, std::string_view text) { Raw(key, Quoted(text)); }
  void Put(std::string_view key, const char* text) { Raw(key, Quoted(text)); }
  void Put(std::string_view key, bool flag) { Raw(key, flag ? "true" : "false"); }
  void Put(std::string_view key, double number) { Raw(key, FormatNumber(number)); }
  void Put(std::string_view key, std::int64_t whole) { Raw(key, std::to_string(whole)); }
  void Put(std::string_view key, std::uint64_t whole) { Raw(key, std::to_string(whole)); }
  void Put(std::string_view key, int whole) { Raw(key, std::to_string(whole)); }
  void Put(std::string_view key, Duration duration) { Raw(key, Quoted(FormatExactly(duration))); }
  void Put(std::string_view key, const Portion& portion) {
    std::visit([&](auto amount) { Put(key, amount); }, portion.amount);
  }
  template <typename T>
  void Put(std::string_view key, const std::optional<T>& value) {
    if (value) Put(key, *value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <typename Items, typename Text>
std::string Join(const Items& items, const Text& text, std::string_view between = ", ") {
  std::string joined;
  for (const auto& item : items) joined += (joined.empty() ? "" : std::string(between)) + text(item);
  return joined;
}

void WriteGoal(const Goal& goal, Writer& out) {
  out.Section("[experiment]");
  out.Put("name", goal.name);
  if (!goal.about.empty()) out.Put("about", goal.about);
  out.Put("seed", goal.seed);
  out.Put("rounds", goal.rounds);
  out.Put("time-budget", goal.time_budget);
  out.Put("target-accuracy", goal.target_accuracy);
  out.Put("evaluate-every", goal.evaluate_every);
}

void WriteModel(const ModelChoice& model, Writer& out) {
  out.Section("[model]");
  out.Put("name", model.name);
  if (model.graph) {
    out.Put("graph", FormatGraph(*model.graph));
  } else {
    out.Put("stem", NameOf(kStems, model.stem));
  }
  if (!model.weights.empty()) {
    out.Put("weights", model.weights);
    out.Put("new-head", model.new_head);
  }
  if (!model.freeze.empty()) out.Raw("freeze", "[" + Join(model.freeze, Quoted) + "]");
  out.Put("compute-as", model.compute_as);
}

// What is as it would be anyhow is left out: few data sets have pictures or recordings.
void WriteFolder(const DataChoice& data, Writer& out) {
  if (!data.classes.empty()) out.Raw("classes", "[" + Join(data.classes, Quoted) + "]");
  const ImageSettings images;
  const SensorSettings sensors;
  if (data.images.height > 0) out.Put("image-size", FormatImageSize(data.images));
  if (data.images.colour != images.colour) out.Put("colour", NameOf(kImageColours, data.images.colour));
  const WindowOptions &windows = data.sensors.windows, usual;
  if (windows.length != usual.length) out.Put("window", static_cast<std::int64_t>(windows.length));
  if (windows.hop != usual.hop) out.Put("hop", static_cast<std::int64_t>(windows.hop));
  if (windows.longest_gap != usual.longest_gap) out.Put("longest-gap", windows.longest_gap);
  if (windows.majority != usual.majority) out.Put("majority", windows.majority);
  if (!data.sensors.columns.empty()) {
    out.Raw("columns", "[" + Join(data.sensors.columns, Quoted) + "]");
  }
  if (data.sensors.time_column != sensors.time_column) out.Put("time-column", data.sensors.time_column);
  if (data.sensors.label_column != sensors.label_column) out.Put("label-column", data.sensors.label_column);
  if (data.sensors.time_unit != sensors.time_unit) out.Put("time-unit", data.sensors.time_unit);
}

void WriteData(const DataChoice& data, Writer& out) {
  out.Section("[data]");
  out.Put("set", data.set);
  const SplitOptions& split = data.split;
  std::string fields = "kind = " + Quoted(split.kind);
  const bool extended = split.kind == "extended-dirichlet";
  if (extended || split.kind == "dirichlet") fields += ", alpha = " + FormatNumber(split.alpha);
  if (extended || split.kind == "classes-per-device") {
    fields += ", classes-per-device = " + std::to_string(split.classes_per_device);
  }
  if (split.kind == "shards") fields += ", shards-per-device = " + std::to_string(split.shards_per_device);
  const ShardChoice& shards = data.shards;
  if (split.kind == "stratified" || split.kind == "submodular") {
    fields += ", sizes = " + Quoted(NameOf(kShardSizes, shards.by_speed));
  }
  if (split.kind == "submodular") {
    if (!shards.features.empty()) fields += ", features = " + Quoted(shards.features);
    fields +=
        ", objective = " + Quoted(NameOf(shards.objective)) + ", choice = " + Quoted(NameOf(shards.choice));
    if (shards.width) fields += ", width = " + FormatNumber(*shards.width);
  }
  out.Raw("split", "{ " + fields + " }");
  out.Put("train-limit", data.train_limit);
  out.Put("test-limit", data.test_limit);
  out.Put("evaluate", NameOf(kMeasuredOn, data.evaluate));
  out.Put("hold-out", data.hold_out);
  WriteFolder(data, out);
}

std::string FormatServer(const Server& server) {
  return "up = " + Quoted(FormatQuantity(server.up.value, Unit::kBitsPerSecond)) +
         ", down = " + Quoted(FormatQuantity(server.down.value, Unit::kBitsPerSecond)) + " }";
}

std::string FormatServers(const std::vector<Server>& servers) {
  const bool equal =
      std::all_of(servers.begin(), servers.end(), [&](const Server& s) { return s == servers[0]; });
  if (equal) return "{ count = " + std::to_string(servers.size()) + ", " + FormatServer(servers[0]);
  return "[" + Join(servers, [](const Server& server) { return "{ " + FormatServer(server); }) + "]";
}

std::string FormatAvailability(const AvailabilityKind& kind) {
  if (const double* share = std::get_if<double>(&kind)) return FormatNumber(*share);
  if (const auto* steps = std::get_if<RandomSteps>(&kind)) {
    return "{ kind = \"steps\", period = " + Quoted(FormatExactly(steps->period)) +
           ", low = " + FormatNumber(steps->low) + ", high = " + FormatNumber(steps->high) + " }";
  }
  const Trace& trace = *std::get<std::shared_ptr<const Trace>>(kind);
  const auto step = [](const Trace::Step& s) {
    return "[" + Quoted(FormatExactly(s.from)) + ", " + FormatNumber(s.share) + "]";
  };
  const std::string_view after = NameOf(kAfters, trace.after());
  return "{ kind = \"trace\"" + (after.empty() ? "" : ", after = " + Quoted(after)) + ", trace = [\n  " +
         Join(trace.steps(), step, ",\n  ") + "] }";
}

void WriteFleet(const FleetChoice& fleet, Writer& out) {
  out.Section("[fleet]");
  out.Raw("servers", FormatServers(fleet.servers));
  out.Put("participation", fleet.participation);
  out.Put("deadline", fleet.deadline);
  out.Put("quorum", fleet.quorum);
  for (const Group& group : fleet.groups) {
    out.Section("[[fleet.group]]");
    out.Put("name", group.name);
    out.Put("count", group.count);
    for (const GroupField& field : kGroupFields) {
      out.Raw(field.key, FormatDistribution(group.*field.member, field.unit));
    }
    if (!group.stream_programme.empty()) out.Put("stream-programme", group.stream_programme);
    out.Raw("availability", FormatAvailability(group.availability));
  }
}

void WriteServerOptimiser(const ServerOptimiser& server, Writer& out) {
  std::string fields = "kind = " + Quoted(NameOf(kServerOptimisers, server.kind));
  if (server.kind != ServerOptimiserKind::kNone)
    fields += ", learning-rate = " + FormatNumber(server.learning_rate);
  if (server.kind == ServerOptimiserKind::kMomentum)
    fields += ", momentum = " + FormatNumber(server.momentum);
  if (server.kind == ServerOptimiserKind::kAdam || server.kind == ServerOptimiserKind::kYogi) {
    fields += ", beta1 = " + FormatNumber(server.beta1) + ", beta2 = " + FormatNumber(server.beta2) +
              ", tau = " + FormatNumber(server.tau);
  }
  out.Raw("server-optimiser", "{ " + fields + " }");
}

void WriteOptimiser(const OptimiserOptions& optimiser, Writer& out) {
  out.Put("optimiser", optimiser.name);
  if (optimiser.name == "sgd") {
    out.Put("momentum", optimiser.momentum);
    out.Put("nesterov", optimiser.nesterov);
  } else {
    out.Put("beta1", optimiser.beta1);
    out.Put("beta2", optimiser.beta2);
    out.Put("epsilon", optimiser.epsilon);
  }
  out.Put("weight-decay", optimiser.weight_decay);
}

void WriteSchedule(const ScheduleOptions& schedule, Writer& out) {
  out.Put("learning-rate", schedule.learning_rate);
  out.Put("schedule", schedule.name);
  if (schedule.name == "step") {
    out.Raw("milestones", "[" + Join(schedule.milestones, [](auto m) { return std::to_string(m); }) + "]");
    out.Put("factor", schedule.factor);
  }
  if (schedule.name == "cosine") out.Put("floor", schedule.floor);
  out.Put("warmup", schedule.warmup_steps);
}

void WriteTraining(const Training& train, Writer& out) {
  out.Section("[train]");
  out.Put("method", NameOf(kMethods, train.method));
  out.Put("batch", train.batch);
  out.Put("local-steps", train.local_steps);
  out.Put("local-epochs", train.local_epochs);
  WriteOptimiser(train.optimiser, out);
  WriteSchedule(train.schedule, out);
  out.Put("label-smoothing", train.label_smoothing);
  out.Raw("augment", std::string("{ flip = ") + (train.augment.flip ? "true" : "false") +
                         ", padding = " + std::to_string(train.augment.padding) + " }");
  out.Put("calibrate", train.calibrate);
  if (train.method == Method::kFederated) out.Put("prox", train.prox);
  if (train.method == Method::kFederated || train.server_optimiser.kind != ServerOptimiserKind::kNone) {
    WriteServerOptimiser(train.server_optimiser, out);
  }
}

void WriteTransfers(const TransferOptions& transfers, Writer& out) {
  out.Section("[transfers]");
  out.Put("strategy", NameOf(transfers.strategy));
  if (transfers.largest_segment) {
    out.Put("largest-segment", FormatQuantity(static_cast<double>(*transfers.largest_segment), Unit::kBytes));
  }
  if (FollowsMeasurements(transfers.strategy)) out.Put("drift", transfers.drift);
}

void WriteCompression(const CompressionOptions& compression, Writer& out) {
  out.Section("[compression]");
  const CodecKind& codec = *compression.kind;
  out.Put("kind", codec.name);
  if (codec.Uses("ratio")) out.Put("ratio", compression.ratio);
  if (codec.Uses("scope")) out.Put("scope", NameOf(compression.scope));
  if (codec.Uses("delta")) out.Put("delta", compression.delta);
  if (codec.Uses("ewma")) out.Put("ewma", compression.ewma);
  if (codec.Uses("error-feedback")) out.Put("error-feedback", compression.error_feedback);
}

void WriteStream(const StreamChoice& stream, Writer& out) {
  out.Section("[stream]");
  if (stream.own) out.Put("kind", stream.own->kind);
  out.Put("recorded-speed", stream.recorded_speed);
  out.Put("batch", NameOf(stream.batch.rule));
  if (stream.batch.rule == BatchRule::kStreamRate) {
    out.Put("window", std::optional(stream.batch.window));
    out.Put("smallest-batch", static_cast<std::int64_t>(stream.batch.smallest));
    out.Put("largest-batch", static_cast<std::int64_t>(stream.batch.largest));
  }
  out.Put("buffer", NameOf(kBufferPolicies, stream.buffer));
  out.Put("scaling", NameOf(stream.scaling.rule));
  if (stream.scaling.rule == RateScaling::kNone) return;
  out.Put("base-batch", stream.base_batch);
  if (stream.scaling.most) out.Put("largest-factor", *stream.scaling.most);
}

void WriteInjection(const InjectionOptions& injection, Writer& out) {
  out.Section("[injection]");
  out.Put("devices", injection.devices);
  if (injection.on()) out.Put("share", injection.share);
}

void WriteSplit(const SplitChoice& split, Writer& out) {
  out.Section("[split]");
  out.Put("cut", split.cut);
  out.Put("tail", split.tail);
  out.Put("activations", NameOf(split.activations));
  out.Put("gradients", NameOf(split.gradients));
  out.Put("server-compute", FormatQuantity(split.server_compute.value, Unit::kMacsPerSecond));
  out.Put("variant", NameOf(kSplitVariants, split.variant));
}

void WriteSampling(const SamplingOptions& sampling, Writer& out) {
  out.Section("[sampling]");
  out.Put("method", MethodName(sampling));
  if (sampling.method == SamplingMethod::kLatentDirichlet) {
    out.Put("delta", sampling.delta);
    out.Put("concentration", sampling.concentration);
    out.Put("draw", NameOf(sampling.draw));
  }
  if (sampling.method == SamplingMethod::kLatentDirichlet || sampling.method == SamplingMethod::kDeadline) {
    out.Put("order", NameOf(sampling.order));
  }
  if (sampling.method == SamplingMethod::kDeadline) out.Put("max-deviation", sampling.max_deviation);
}

void WriteDropout(const DropoutOptions& dropout, Writer& out) {
  out.Section("[dropout]");
  out.Put("method", NameOf(kDropoutMethods, dropout.method));
  if (dropout.method == DropoutMethod::kSmall) out.Put("width", dropout.width);
  if (ChoosesWidths(dropout.method)) out.Raw("widths", "[" + Join(dropout.widths, FormatNumber) + "]");
  if (!Chooses(dropout.method)) return;
  if (dropout.method == DropoutMethod::kPareto)
    out.Put("channels", NameOf(kChannelChoices, dropout.channels));
  if (!IsFixedInRound(dropout.method)) out.Put("mean", NameOf(kMeansOver, dropout.mean));
  if (dropout.front) out.Put("front", FormatFrontOnALine(*dropout.front));
  out.Put("cost", NameOf(kFrontCosts, dropout.cost));
  out.Put("scaling", NameOf(kScalings, dropout.scaling));
}

void WriteAggregation(const AggregationOptions& aggregation, Writer& out) {
  out.Section("[aggregation]");
  out.Put("rule", aggregation.rule->name);
  for (std::size_t i = 0; i < aggregation.numbers.size(); ++i)
    out.Put(aggregation.rule->numbers[i].key, aggregation.numbers[i]);
}

void WriteGossip(const GossipChoice& gossip, Writer& out) {
  const MixingOptions& mixing = gossip.mixing;
  out.Section("[gossip]");
  out.Put("algorithm", NameOf(kMixingWords, mixing.rule));
  std::string fields = "kind = " + Quoted(NameOf(kTopologyWords, mixing.topology.kind));
  if (mixing.topology.kind == TopologyKind::kErdosRenyi) {
    fields += ", probability = " + FormatNumber(mixing.topology.probability);
  }
  if (mixing.topology.kind == TopologyKind::kEdges) {
    const auto text = [](const auto& edge) {
      return "[" + std::to_string(edge.first) + ", " + std::to_string(edge.second) + "]";
    };
    fields += ", edges = [" + Join(mixing.topology.edges, text) + "]";
  }
  out.Raw("topology", "{ " + fields + " }");
  if (mixing.rule == MixingRule::kMatcha) out.Put("budget", mixing.budget);
  out.Put("batches", NameOf(kBatchSizes, gossip.batches));
}

void WriteDisturbance(const Disturbance& disturbance, Writer& out) {
  const auto number = [](const auto& id) { return std::to_string(id.value); };
  out.Section("[[disturbance]]");
  out.Put("kind", NameOf(kDisturbances, disturbance.kind));
  if (const auto* group = std::get_if<std::string>(&disturbance.devices)) {
    out.Put("devices", "group:" + *group);
  } else if (const auto* ids = std::get_if<std::vector<DeviceId>>(&disturbance.devices)) {
    out.Raw("devices", "[" + Join(*ids, number) + "]");
  } else {
    out.Put("devices", "all");
  }
  out.Put("share", disturbance.share);
  out.Raw("rounds", disturbance.rounds ? "[" + Join(*disturbance.rounds, number) + "]" : "\"all\"");
  if (disturbance.kind == DisturbanceKind::kSlow) out.Put("factor", disturbance.factor);
}

}  // namespace

std::string FormatExperiment(const Experiment& experiment) {
  Writer out;
  out.Put("schema", 1);
  WriteGoal(experiment.goal, out);
  WriteModel(experiment.model, out);
  WriteData(experiment.data, out);
  WriteFleet(experiment.fleet, out);
  WriteTraining(experiment.train, out);
  WriteTransfers(experiment.transfers, out);
  WriteCompression(experiment.compression, out);
  WriteStream(experiment.stream, out);
  WriteInjection(experiment.injection, out);
  if (experiment.train.method == Method::kSplit) {
    WriteSplit(experiment.split, out);
    if (!experiment.split.averages()) WriteSampling(experiment.sampling, out);
  }
  WriteDropout(experiment.dropout, out);
  if (experiment.train.method == Method::kGossip) WriteGossip(experiment.gossip, out);
  WriteAggregation(experiment.aggregation, out);
  for (const Disturbance& disturbance : experiment.disturbances) WriteDisturbance(disturbance, out);
  return out.text();
}

}  // namespace tributary::inline experiment
