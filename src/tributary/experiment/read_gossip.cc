#include <array>

#include "tributary/base/file.h"
#include "tributary/experiment/sections.h"
#include "tributary/policy/mixing/mixer.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline experiment {
namespace {

constexpr std::size_t kMostEdges = 100'000;  // as they are spelled out
constexpr Bytes kLargestEdgeFile{4 << 20};

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// [[0, 1], [1, 2]], or the name of a file with a pair a line.
StatusOr<Edges> FindEdges(const Value& value, const std::optional<std::filesystem::path>& folder) {
  const Status wrong =
      InvalidArgument("found " + Describe(value) +
                      "; allowed: pairs of device numbers, like [[0, 1], [1, 2]], or a file with such a"
                      " pair on each line, like \"edges.txt\"");
  if (const auto* name = std::get_if<std::string>(&value.content)) {
    if (name->empty() || name->find('\0') != std::string::npos) return wrong;
    if (!folder) return InvalidArgument("this experiment may not name files; write the pairs into it");
    TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(*folder / *name, kLargestEdgeFile));
    auto edges = ParseEdgeList({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!edges.ok()) return std::move(edges).status().WithContext(*name);
    return edges;
  }
  const auto* list = std::get_if<List>(&value.content);
  if (list == nullptr) return wrong;
  Edges edges;
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

Status ReadTopology(Section section, const std::optional<std::filesystem::path>& folder,
                    TopologyOptions& topology) {
  section.Require("kind");
  section.ReadWord("kind", kTopologyWords, topology.kind);
  section.Read("probability", topology.probability, kPositiveShare);
  section.OnlyWith("probability", topology.kind == TopologyKind::kErdosRenyi, "kind = \"erdos-renyi\"");
  const bool edges = topology.kind == TopologyKind::kEdges;
  if (edges) section.Require("edges", "; it lists who may meet whom");
  section.OnlyWith("edges", edges, "kind = \"edges\"");
  if (const Value* value = section.Take("edges")) {
    auto found = FindEdges(*value, folder);
    if (found.ok()) {
      topology.edges = std::move(found).value();
    } else {
      // A missing file keeps its code: it is not the experiment that is wrong.
      section.Fail(Status(found.status().code(), Prefix(section.document().name, value->place) +
                                                     section.PathOf("edges") + ": " +
                                                     found.status().message()));
    }
  }
  return section.Finish();
}

// What has no meaning where devices meet each other, in sections that have been read for themselves.
void CheckRoomForGossip(Section& section, const Experiment& rest) {
  const auto refuse = [&](bool given, std::string_view what) {
    if (given) section.Fail("algorithm", ": under train.method = \"gossip\" " + std::string(what));
  };
  const std::int64_t devices = TotalDevices(rest.fleet);
  refuse(rest.fleet.participation.Of(devices) < devices,
         "all devices take part in every round, and `algorithm` says who meets whom; leave out "
         "fleet.participation");
  refuse(rest.compression.kind != CodecNamed("dense"),
         "models are exchanged, not updates, and they travel whole; leave out [compression]");
  refuse(rest.transfers.strategy != TransferStrategy::kSequential || rest.transfers.largest_segment,
         "a model is averaged when all of it has come, so there is nothing to hide transfers behind; leave "
         "out [transfers]");
  // Before the deadline, which it needs elsewhere.
  refuse(rest.dropout.method != DropoutMethod::kFull && rest.dropout.method != DropoutMethod::kSmall,
         "a device that trains a part would have to meet the others with the whole, and there is no deadline "
         "to choose by;"
         " leave out [dropout], or use \"small\"");
  refuse(rest.fleet.deadline.has_value(),
         "a device waits for the neighbours that are there; leave out fleet.deadline");
  refuse(rest.stream.scaling.rule != RateScaling::kNone,
         "nobody sees the batches of all devices; leave out stream.scaling");
}

}  // namespace

Status ReadGossip(Section section, const Experiment& rest, const std::optional<std::filesystem::path>& folder,
                  GossipChoice& gossip) {
  MixingOptions& mixing = gossip.mixing;
  section.ReadWord("algorithm", kMixingWords, mixing.rule);
  if (const Value* topology = section.Take("topology")) {
    const Value table = AsTable(*topology);
    section.Fail(ReadTopology(Section(section.document(), table, section.PathOf("topology")), folder,
                              mixing.topology));
  }
  section.Read("budget", mixing.budget, kPositiveShare);
  section.OnlyWith("budget", mixing.rule == MixingRule::kMatcha, "algorithm = \"matcha\"");
  section.ReadWord("batches", kBatchSizes, gossip.batches);
  const bool gossips = rest.train.method == Method::kGossip;
  for (const auto key : {"algorithm", "topology", "budget", "batches"}) {
    section.OnlyWith(key, gossips, "train.method = \"gossip\"");
  }
  if (!gossips) return section.Finish();
  CheckRoomForGossip(section, rest);
  // What is left for the maker to say.
  const auto nodes = static_cast<std::size_t>(TotalDevices(rest.fleet));
  if (auto made = Mixer::Make(mixing, nodes, rest.goal.seed); !made.ok()) {
    section.Fail("topology", ": " + made.status().message());
  }
  return section.Finish();
}

}  // namespace tributary::inline experiment
