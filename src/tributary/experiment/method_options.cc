// [split], [sampling], [dropout] and [gossip].
#include <algorithm>
#include <array>

#include "tributary/base/file.h"
#include "tributary/base/names.h"
#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"
#include "tributary/experiment/presets.h"
#include "tributary/fleet/front_file.h"
#include "tributary/policy/mixing/mixer.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline experiment {
namespace {

bool Transfers(const Experiment& e) {
  return e.transfers.strategy != TransferStrategy::kSequential || e.transfers.largest_segment;
}

// Rejects options that split learning does not support.
void CheckRoomForSplit(OptionList& mistakes, const Experiment& e) {
  const SplitChoice& split = e.split;
  const StreamChoice& stream = e.stream;
  const auto refuse = [&](bool given, const void* field, std::string_view why) {
    if (given) mistakes.Fail(field, ": " + std::string(why));
  };
  refuse(e.data.hold_out > 0, &split.cut,
         "devices have only a part of the network and cannot evaluate it; leave out data.hold-out");
  refuse(e.model.compute_as.has_value(), &split.cut,
         "the cut applies to the trained network only; leave out model.compute-as");
  refuse(!e.model.freeze.empty(), &split.cut,
         "devices train the network's first layers, which would be frozen; leave out model.freeze, or use "
         "method = \"federated\" or \"sync-sgd\"");
  refuse(!split.averages() && e.fleet.participation != Portion::Share(1.0), &split.cut,
         "[sampling] selects the participants of a step; leave out fleet.participation");
  refuse(Streams(e) || stream.batch.rule != BatchRule::kFixed || stream.buffer != BufferPolicy::kPersist,
         &split.cut,
         std::string("method = \"split\" ") +
             (split.averages() ? "must know a step's samples on both sides of the cut"
                               : "plans epochs over samples that are there from the start") +
             "; leave out stream-rate, stream-programme and [stream]");
  refuse(split.tail && split.averages(), &split.tail,
         "fronts are averaged, and a tail would have to be too; leave it out, or use variant = \"parallel\"");
  refuse(split.tail && Transfers(e), &split.tail,
         "with a tail, the client part is at both ends of the network and is sent in one piece; leave out "
         "transfers.strategy and transfers.largest-segment");
}

}  // namespace

OptionList SplitKeys(Experiment& e, const OptionContext&) {
  SplitChoice& split = e.split;
  OptionList list;
  list.AllOnlyWith([&e] { return e.train.method == Method::kSplit; }, "method = \"split\"");
  list.Add("cut", Text(split.cut),
           "The last layer on the devices; auto: the one with the shortest modelled step.");
  list.Add("tail", Text(split.tail), "Layers after this one are on the devices too, and labels stay there.")
      .Example("\"relu3\"");
  list.Add("activations", OneOf(split.activations, kSplitPrecisions, "precision"), "How activations travel.");
  list.Add("gradients", OneOf(split.gradients, kSplitPrecisions, "precision"), "How their gradients travel.");
  list.Add("server-compute", Rate(split.server_compute), "Compute rate of the coordinator.");
  list.Add("variant", OneOf(split.variant, kSplitVariants),
           "Parallel split learning, or SplitFed, which averages the devices' parts after every round.");
  list.Check([&e](OptionList& mistakes) {
    if (e.train.method == Method::kSplit) CheckRoomForSplit(mistakes, e);
  });
  return list;
}

OptionList SamplingKeys(Experiment& e, const OptionContext& context) {
  SamplingOptions& sampling = e.sampling;
  const Extensions& extensions = context.extensions;
  OptionList list;
  list.AllOnlyWith([&e] { return e.train.method == Method::kSplit; }, "method = \"split\"");
  list.AllOnlyWith([&e] { return e.train.method != Method::kSplit || !e.split.averages(); },
                   "split.variant = \"parallel\"");
  const Option::Condition dirichlet{
      [&sampling] { return sampling.method == SamplingMethod::kLatentDirichlet; }, "method = \"lds\""};
  const auto deadline = [&sampling] { return sampling.method == SamplingMethod::kDeadline; };
  std::vector<std::string> methods = NamesOf(kSamplingMethods);
  for (std::string& own : extensions.SamplerNames()) methods.push_back(std::move(own));
  const auto set = [&sampling, &extensions](const std::string& name) {
    sampling.own = extensions.FindSampler(name);
    sampling.own_name = sampling.own ? name : "";
    const auto known = ParseSamplingMethod(name);
    sampling.method = known.ok() ? *known : SamplingMethod::kOwn;
  };
  list.Add("method",
           NameForm(
               &sampling.method, "sampling method", std::move(methods),
               [&sampling] { return std::string(MethodName(sampling)); }, set),
           "How many samples each device gives to a global batch, or a custom sampler.");
  list.Add("delta", Number(sampling.delta, {.low = -1000, .high = 1000}),
           "How strongly slow devices are used first.", dirichlet);
  list.Add("concentration", Number(sampling.concentration, {.low = 1e-6, .high = 1e6}),
           "Weight of the prior against the labels.", dirichlet);
  list.Add("draw", OneOf(sampling.draw, kSamplingDraws), "Draw by sample, or by device as published (pi).",
           dirichlet);
  list.Add("order", OneOf(sampling.order, kStepOrders),
           "Order of the planned steps: mixed, or slow first (early).")
      .OnlyWith([dirichlet, deadline] { return dirichlet.holds() || deadline(); },
                "method = \"lds\" or \"deadline\"");
  list.Add("max-deviation", Number(sampling.max_deviation, {.high = 2}),
           "Largest mean deviation of a batch's labels; by default a tenth above uniform sampling.")
      .OnlyWith(deadline, "method = \"deadline\"");
  return list;
}

namespace {

constexpr std::size_t kMostWidths = 64;

// A built-in name, a file, or the front itself: experiments as run are self-contained.
StatusOr<ParetoFront> FindFront(const Value& value, const OptionContext& context) {
  const std::string* text = FileNameIn(value);
  if (text == nullptr) {
    return InvalidArgument("found " + Describe(value) +
                           "; allowed: a file that `tributary explore` wrote, like \"front.json\", or the "
                           "network of a front that is built in, like \"resnet8\"");
  }
  if (text->front() == '{') return ParseFront(*text);
  if (text->find_first_of("./") == std::string::npos) return BuiltInFront(*text);
  if (context.folder) return ReadFront(*context.folder / *text);
  return InvalidArgument(
      "this experiment may not name files; write what is in the file into it, between quotes");
}

void CheckDropout(OptionList& mistakes, const Experiment& e) {
  const DropoutOptions& dropout = e.dropout;
  const std::vector<double>& widths = dropout.widths;
  const auto falls = std::ranges::adjacent_find(widths, std::greater_equal<>());
  if (falls != widths.end()) {
    mistakes.Fail(&widths,
                  " must rise, and " + FormatNumber(falls[1]) + " follows " + FormatNumber(falls[0]));
  }
  if (dropout.method->ChoosesFromFront() && !dropout.front)
    mistakes.Fail(&dropout.front, " is missing; `tributary explore " + e.model.name + "` makes one");
  if (dropout.method->TrainsWhole()) return;
  if (e.train.method == Method::kSplit) {
    mistakes.Fail(&dropout.method,
                  ": with method = \"split\" devices already have a part of the network; leave out "
                  "[dropout], or use \"federated\" or \"sync-sgd\"");
  }
  // Gossip has no deadline; CheckRoomForGossip refuses dropout there.
  if (dropout.method->Chooses() && !e.fleet.deadline && e.train.method != Method::kGossip) {
    mistakes.Fail(&dropout.method, ": a device trains what it can until the deadline; give fleet.deadline");
  }
}

}  // namespace

OptionList DropoutKeys(Experiment& e, const OptionContext& context) {
  DropoutOptions& dropout = e.dropout;
  OptionList list;
  const auto rules = WithChosen(context.extensions.AllSubnetworkRules(), dropout.method);
  // Adds a key that only some rules use.
  const auto add = [&](std::string_view key, ValueForm form, std::string_view doc,
                       bool (*uses)(const SubnetworkRule&)) -> Option& {
    return list.Add(key, std::move(form), doc)
        .OnlyWith([&dropout, uses] { return uses(*dropout.method); }, RowsWith("method", rules, uses));
  };
  const auto small = [&dropout] { return dropout.method->menu == SubnetworkRule::Menu::kNarrow; };
  const Option::Condition chooses{[&dropout] { return dropout.method->Chooses(); },
                                  "a method whose devices choose what they train"};
  list.Add("method", RowForm(dropout.method, rules), "Which sub-network a device trains.");
  list.Add("width", Number(dropout.width, kPositiveShare), "Share of the channels of every layer.")
      .OnlyWith(small, "method = \"small\"")
      .RequiredIf(small, "; it says how many of its channels every layer of the small network has");
  add("widths", Numbers(dropout.widths, kPositiveShare, kMostWidths), "Widths to choose from, rising.",
      [](const SubnetworkRule& rule) { return rule.ChoosesWidths(); });
  add("channels", OneOf(dropout.channels, kChannelChoices), "Train random channels or the first ones.",
      [](const SubnetworkRule& rule) { return rule.ChoosesFromFront(); })
      .Otherwise(
          [&dropout] {
            if (dropout.front) dropout.channels = dropout.front->channels;
          },
          "what the front was explored with");
  add("mean", OneOf(dropout.mean, kMeansOver),
      "Mean over all devices, or over those that trained an element.",
      [](const SubnetworkRule& rule) { return rule.Chooses() && !rule.IsFixedInRound(); });
  list.Add("front",
           Own(
               &dropout.front,
               {"a file that `tributary explore` wrote, or a network whose front is built in", "\"string\"",
                "\"front.json\", \"resnet8\""},
               [&dropout, &context](const Value& value, const Spot& spot) {
                 ParetoFront front;
                 TRIBUTARY_RETURN_IF_ERROR(spot.Keep(value, FindFront(value, context), front));
                 dropout.front = std::make_shared<const ParetoFront>(std::move(front));
                 return OkStatus();
               },
               [&dropout] { return dropout.front ? Quoted(FormatFrontOnALine(*dropout.front)) : ""; }),
           "Pareto front of sub-networks (DISTREAL), and what they cost.", chooses)
      .RequiredIf(
          [&dropout] { return dropout.cost == FrontCost::kTime && !dropout.method->ChoosesFromFront(); },
          "; it says what sub-networks cost");
  list.Add("cost", OneOf(dropout.cost, kFrontCosts),
           "Cost of a sub-network: its multiply-accumulates or the front's time.", chooses);
  list.Add("scaling", OneOf(dropout.scaling, kScalings), "Scaling of the filters that are kept.", chooses);
  list.Check([&e](OptionList& mistakes) { CheckDropout(mistakes, e); });
  return list;
}

namespace {

constexpr std::size_t kMostEdges = 100'000;  // as written out
constexpr Bytes kLargestEdgeFile{4 << 20};

// [[0, 1], [1, 2]], or a file with a pair on each line.
StatusOr<std::vector<Edge>> FindEdges(const Value& value, const OptionContext& context) {
  const Status wrong = InvalidArgument("found " + Describe(value) +
                                       "; allowed: pairs of device numbers, like [[0, 1], [1, 2]], or a file "
                                       "with such a pair on each line, like \"edges.txt\"");
  if (const std::string* name = FileNameIn(value)) {
    if (!context.folder)
      return InvalidArgument("this experiment may not name files; write the pairs into it");
    TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(*context.folder / *name, kLargestEdgeFile));
    auto edges = ParseEdgeList({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!edges.ok()) return std::move(edges).status().WithContext(*name);
    return edges;
  }
  const auto* list = std::get_if<List>(&value.content);
  if (list == nullptr) return wrong;
  std::vector<Edge> edges;
  for (const Value& item : *list) {
    const auto* pair = std::get_if<List>(&item.content);
    if (pair == nullptr || pair->size() != 2 || edges.size() == kMostEdges) return wrong;
    std::array<std::uint32_t, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto* number = std::get_if<std::int64_t>(&(*pair)[i].content);
      if (number == nullptr || *number < 0 || *number >= kMostDevices) return wrong;
      ends[i] = static_cast<std::uint32_t>(*number);
    }
    edges.emplace_back(ends[0], ends[1]);
  }
  return edges;
}

OptionList TopologyKeys(TopologyOptions& topology, const OptionContext& context) {
  OptionList list;
  const auto edges = [&topology] { return topology.kind == TopologyKind::kEdges; };
  list.Add("kind", OneOf(topology.kind, kTopologyKinds), "The graph of neighbours.").Required();
  list.Add("probability", Number(topology.probability, kPositiveShare), "Probability of every edge.")
      .OnlyWith([&topology] { return topology.kind == TopologyKind::kErdosRenyi; }, "kind = \"erdos-renyi\"");
  list.Add("edges",
           Own(
               &topology.edges,
               {"pairs of device numbers, like [[0, 1], [1, 2]], or a file with such a pair on each line",
                "\"string\", \"array\"", "[[0, 1], [1, 2]], \"edges.txt\""},
               [&topology, &context](const Value& value, const Spot& spot) {
                 return spot.Keep(value, FindEdges(value, context), topology.edges);
               },
               [&topology] {
                 return WriteList(topology.edges, [](const Edge& edge) {
                   return "[" + std::to_string(edge.first) + ", " + std::to_string(edge.second) + "]";
                 });
               }),
           "The edges of the graph.")
      .OnlyWith(edges, "kind = \"edges\"")
      .RequiredIf(edges, "; it lists who may meet whom");
  return list;
}

// Rejects options that gossip does not support.
void CheckRoomForGossip(OptionList& mistakes, const Experiment& e) {
  const auto refuse = [&](bool given, std::string_view what) {
    if (given) mistakes.Fail(&e.gossip.mixing.rule, ": under train.method = \"gossip\" " + std::string(what));
  };
  const std::int64_t devices = TotalDevices(e.fleet);
  refuse(e.fleet.participation.Of(devices) < devices,
         "all devices take part in every round; leave out fleet.participation");
  refuse(e.compression.kind != CodecNamed("dense"),
         "models are exchanged uncompressed, not updates; leave out [compression]");
  refuse(Transfers(e),
         "whole models are averaged, so transfers cannot overlap with computation; leave out [transfers]");
  // Checked before the deadline, which dropout needs elsewhere.
  refuse(e.dropout.method->Chooses(),
         "devices exchange whole models, and there is no deadline to choose a sub-network "
         "by; leave out [dropout], or use \"small\"");
  refuse(e.fleet.deadline.has_value(), "a device waits for its neighbours; leave out fleet.deadline");
  refuse(e.stream.scaling.rule != RateScaling::kNone,
         "no one knows the batches of all devices; leave out stream.scaling");
}

}  // namespace

OptionList GossipKeys(Experiment& e, const OptionContext& context) {
  GossipChoice& gossip = e.gossip;
  MixingOptions& mixing = gossip.mixing;
  OptionList list;
  list.AllOnlyWith([&e] { return e.train.method == Method::kGossip; }, "train.method = \"gossip\"");
  list.Add("algorithm", OneOf(mixing.rule, kMixingRules), "How models are averaged.");
  list.Add("topology",
           Inline(&mixing.topology, [&mixing, &context] { return TopologyKeys(mixing.topology, context); }),
           "Which devices are neighbours.");
  list.Add("budget", Number(mixing.budget, kPositiveShare),
           "Expected share of the matchings that are active (MATCHA).")
      .OnlyWith([&mixing] { return mixing.rule == MixingRule::kMatcha; }, "algorithm = \"matcha\"");
  list.Add("batches", OneOf(gossip.batches, kBatchSizes),
           "Equal batches, or in proportion to the devices' speeds.");
  list.Check([&e, &mixing](OptionList& mistakes) {
    if (e.train.method != Method::kGossip) return;
    CheckRoomForGossip(mistakes, e);
    // Other errors are found by the factory function.
    const auto nodes = static_cast<std::size_t>(TotalDevices(e.fleet));
    if (auto made = Mixer::Make(mixing, nodes, e.goal.seed); !made.ok())
      mistakes.Fail(&mixing.topology, ": " + made.status().message());
  });
  return list;
}

}  // namespace tributary::inline experiment
