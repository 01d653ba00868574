#include "tributary/model/channel_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "tributary/base/check.h"

namespace tributary::inline model {
namespace {

// Union-find over channels: every channel that a layer makes is a variable, and ties unite variables.
class Ties {
 public:
  std::int32_t Make(NodeIndex maker) {
    parent_.push_back(static_cast<std::int32_t>(parent_.size()));
    makers_.push_back(maker);
    return parent_.back();
  }
  std::int32_t Root(std::int32_t variable) {
    while (parent_[Index(variable)] != variable) {
      parent_[Index(variable)] = parent_[Index(parent_[Index(variable)])];
      variable = parent_[Index(variable)];
    }
    return variable;
  }
  void Unite(std::int32_t a, std::int32_t b) {
    a = Root(a);
    b = Root(b);
    // The earliest variable stays the root, so that roots are in execution order.
    if (a != b) parent_[Index(std::max(a, b))] = std::min(a, b);
  }
  NodeIndex maker(std::int32_t variable) const { return makers_[Index(variable)]; }
  std::int32_t size() const { return static_cast<std::int32_t>(parent_.size()); }

 private:
  static std::size_t Index(std::int32_t variable) { return static_cast<std::size_t>(variable); }

  std::vector<std::int32_t> parent_;
  std::vector<NodeIndex> makers_;
};

using Variables = std::vector<std::int32_t>;

// Splits each tensor into `blocks` equal runs and unites the variables of corresponding runs.
void UniteBlocks(Ties& ties, std::initializer_list<const Variables*> tensors, std::int64_t blocks) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::int32_t first = -1;
    for (const Variables* tensor : tensors) {
      const std::size_t length = tensor->size() / static_cast<std::size_t>(blocks);
      for (std::size_t i = 0; i < length; ++i) {
        const std::int32_t variable = (*tensor)[static_cast<std::size_t>(block) * length + i];
        if (first < 0) first = variable;
        ties.Unite(first, variable);
      }
    }
  }
}

// The variables of every node's output channels, after uniting tied ones.
std::vector<Variables> TieChannels(const Graph& graph, Ties& ties) {
  std::vector<Variables> of_node(graph.size());
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    Variables& mine = of_node[i];
    const auto input = [&](std::size_t k) -> const Variables& { return of_node[node.inputs[k]]; };

    switch (TraitsOf(node.operation).channels) {
      case ChannelRule::kMade:
        for (std::int64_t c = 0; c < graph.shape(i).channels; ++c) mine.push_back(ties.Make(i));
        break;
      case ChannelRule::kKept:
        mine = input(0);
        break;
      case ChannelRule::kAdded:
        mine = input(0);
        for (std::size_t k = 1; k < node.inputs.size(); ++k) {
          for (std::size_t c = 0; c < mine.size(); ++c) ties.Unite(mine[c], input(k)[c]);
        }
        break;
      case ChannelRule::kJoined:
        for (std::size_t k = 0; k < node.inputs.size(); ++k)
          mine.insert(mine.end(), input(k).begin(), input(k).end());
        break;
      case ChannelRule::kFlattened: {
        const Shape& shape = graph.shape(node.inputs[0]);
        for (const std::int32_t variable : input(0))
          mine.insert(mine.end(), static_cast<std::size_t>(shape.height * shape.width), variable);
        break;
      }
    }
    if (const std::int64_t blocks = BlocksOf(node.operation); blocks > 0)
      UniteBlocks(ties, {&input(0), &mine}, blocks);
  }
  return of_node;
}

}  // namespace

ChannelGroups FindChannelGroups(const Graph& graph, const std::vector<bool>& frozen) {
  Ties ties;
  const std::vector<Variables> variables = TieChannels(graph, ties);

  std::set<std::int32_t> fixed;
  for (NodeIndex end = 0; end < graph.size(); ++end) {
    if (!std::holds_alternative<Input>(graph.node(end).operation) && graph.last_use(end) != end) continue;
    for (const std::int32_t variable : variables[end]) fixed.insert(ties.Root(variable));
  }
  for (NodeIndex node = 0; node < frozen.size(); ++node) {
    if (!frozen[node]) continue;
    for (const std::int32_t variable : variables[node]) fixed.insert(ties.Root(variable));
    for (const std::int32_t variable : variables[graph.node(node).inputs[0]])
      fixed.insert(ties.Root(variable));
  }

  // The makers of each atom, then one group per distinct set of makers, in order of first appearance.
  std::map<std::int32_t, std::set<NodeIndex>> makers;
  for (std::int32_t v = 0; v < ties.size(); ++v) {
    if (!fixed.contains(ties.Root(v))) makers[ties.Root(v)].insert(ties.maker(v));
  }
  ChannelGroups result;
  std::map<std::set<NodeIndex>, std::int32_t> group_of_makers;
  std::map<std::int32_t, ChannelGroups::Channel> channel_of_root;
  std::map<std::string, int> uses_of_name;
  for (const auto& [root, made_by] : makers) {
    const auto [entry, is_new] =
        group_of_makers.try_emplace(made_by, static_cast<std::int32_t>(result.groups.size()));
    if (is_new) {
      std::string name = graph.node(*made_by.begin()).name;
      const int use = ++uses_of_name[name];
      if (use > 1) name += "#" + std::to_string(use);
      result.groups.push_back({std::move(name), 0, 0});
    }
    ChannelGroups::Group& group = result.groups[static_cast<std::size_t>(entry->second)];
    channel_of_root[root] = {entry->second, static_cast<std::int32_t>(group.atoms++)};
  }
  for (std::int32_t v = 0; v < ties.size(); ++v) {
    const auto channel = channel_of_root.find(ties.Root(v));
    if (channel == channel_of_root.end()) continue;
    if (ties.maker(v) == *makers[channel->first].begin())
      ++result.groups[static_cast<std::size_t>(channel->second.group)].channels;
  }

  for (const Variables& tensor : variables) {
    auto& channels = result.of_node.emplace_back();
    channels.reserve(tensor.size());
    for (const std::int32_t variable : tensor) {
      const auto channel = channel_of_root.find(ties.Root(variable));
      channels.push_back(channel == channel_of_root.end() ? ChannelGroups::Channel{} : channel->second);
    }
  }
  return result;
}

KeptAtoms AllAtoms(const ChannelGroups& groups) {
  KeptAtoms kept;
  for (const ChannelGroups::Group& group : groups.groups) {
    kept.emplace_back(static_cast<std::size_t>(group.atoms));
    std::iota(kept.back().begin(), kept.back().end(), 0);
  }
  return kept;
}

std::vector<std::vector<std::int32_t>> ChannelsThatRemain(const ChannelGroups& groups,
                                                          const KeptAtoms& kept) {
  TRIBUTARY_CHECK(kept.size() == groups.groups.size());
  std::vector<std::vector<char>> remains;
  for (std::size_t group = 0; group < kept.size(); ++group) {
    TRIBUTARY_CHECK(!kept[group].empty());
    auto& atoms = remains.emplace_back(static_cast<std::size_t>(groups.groups[group].atoms), 0);
    for (const std::int32_t atom : kept[group]) atoms[static_cast<std::size_t>(atom)] = 1;
  }
  std::vector<std::vector<std::int32_t>> channels(groups.of_node.size());
  for (NodeIndex node = 0; node < channels.size(); ++node) {
    const auto& of_node = groups.of_node[node];
    for (std::size_t i = 0; i < of_node.size(); ++i) {
      const auto [group, atom] = of_node[i];
      if (group >= 0 && remains[static_cast<std::size_t>(group)][static_cast<std::size_t>(atom)] == 0)
        continue;
      channels[node].push_back(static_cast<std::int32_t>(i));
    }
  }
  return channels;
}

std::vector<std::int64_t> KeptCounts(const ChannelGroups& groups, std::span<const double> rates,
                                     std::int64_t lanes) {
  TRIBUTARY_CHECK(rates.size() == groups.groups.size() && lanes >= 1);
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    TRIBUTARY_CHECK(rates[i] >= 0 && rates[i] < 1);
    const ChannelGroups::Group& group = groups.groups[i];
    // With several channels per atom, fewer atoms fill the lanes.
    const std::int64_t each =
        std::max<std::int64_t>(1, group.channels / std::max<std::int64_t>(1, group.atoms));
    const std::int64_t step = std::max<std::int64_t>(1, lanes / each);
    const double left = (1 - rates[i]) * static_cast<double>(group.atoms) / static_cast<double>(step);
    const std::int64_t steps = std::max<std::int64_t>(1, std::llround(left));
    kept.push_back(std::min(steps * step, group.atoms));
  }
  return kept;
}

std::vector<double> RatesOf(const ChannelGroups& groups, std::span<const std::int64_t> kept) {
  TRIBUTARY_CHECK(kept.size() == groups.groups.size());
  std::vector<double> rates;
  for (std::size_t i = 0; i < kept.size(); ++i)
    rates.push_back(1 - static_cast<double>(kept[i]) / static_cast<double>(groups.groups[i].atoms));
  return rates;
}

}  // namespace tributary::inline model
