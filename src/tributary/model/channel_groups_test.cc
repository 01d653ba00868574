#include "tributary/model/channel_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>

#include "tributary/base/rng.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

std::vector<std::string> Names(const ChannelGroups& channels) {
  std::vector<std::string> names;
  for (const auto& group : channels.groups) names.push_back(group.name + ":" + std::to_string(group.atoms));
  return names;
}

Graph Finish(GraphBuilder b, NodeIndex x) {
  x = b.Add("flatten", Flatten{}, {x});
  b.Add("fc", Linear{5}, {x});
  auto graph = std::move(b).Build();
  TRIBUTARY_CHECK(graph.ok());
  return std::move(graph).value();
}

NodeIndex Pointwise(GraphBuilder& b, const std::string& name, NodeIndex x, std::int64_t channels,
                    std::int64_t groups = 1) {
  return b.Add(name, Conv{.out_channels = channels, .kernel = {1, 1}, .groups = groups}, {x});
}

TEST(ChannelGroups, AdditionsTieAStageOfAResNet) {
  const auto graph = BuildZooGraph({"resnet8", {}, {}, Stem::kAuto});
  EXPECT_EQ(Names(FindChannelGroups(*graph)),
            (std::vector<std::string>{"conv1:16", "layer1.0.conv1:16", "layer2.0.conv1:32",
                                      "layer2.0.conv2:32", "layer3.0.conv1:64", "layer3.0.conv2:64"}));
}

TEST(ChannelGroups, DepthwiseConvolutionsFollowTheirInput) {
  const auto graph = BuildZooGraph({"mobilenet-v2", Shape{3, 32, 32}, 10, Stem::kAuto});
  const ChannelGroups channels = FindChannelGroups(*graph);
  EXPECT_EQ(channels.groups[0].name, "features.0.0");
  EXPECT_EQ(channels.groups[0].atoms, 32);  // with the depthwise convolution after it
  EXPECT_EQ(channels.groups[1].name, "features.1.conv.1");
  // 1 stem, 7 stage outputs, 16 hidden expansions, 1 head.
  EXPECT_EQ(channels.groups.size(), 25U);
}

TEST(ChannelGroups, AConcatenationTiesNothing) {
  GraphBuilder b("net", {3, 4, 4});
  const NodeIndex left = Pointwise(b, "left", 0, 4);
  const NodeIndex right = Pointwise(b, "right", 0, 6);
  const NodeIndex both = b.Add("both", Concat{}, {left, right});
  const Graph graph = Finish(std::move(b), both);
  const ChannelGroups channels = FindChannelGroups(graph);
  EXPECT_EQ(Names(channels), (std::vector<std::string>{"left:4", "right:6"}));
  EXPECT_EQ(channels.of_node[both][5], (ChannelGroups::Channel{1, 1}));
}

TEST(ChannelGroups, AnAdditionOntoAConcatenationTiesChannelsNotTensors) {
  GraphBuilder b("net", {3, 4, 4});
  const NodeIndex left = Pointwise(b, "left", 0, 4);
  const NodeIndex right = Pointwise(b, "right", 0, 6);
  const NodeIndex both = b.Add("both", Concat{}, {left, right});
  const NodeIndex other = Pointwise(b, "other", 0, 10);
  const NodeIndex sum = b.Add("sum", Add{}, {both, other});
  const ChannelGroups channels = FindChannelGroups(Finish(std::move(b), sum));
  EXPECT_EQ(Names(channels), (std::vector<std::string>{"left:4", "right:6"}));
  EXPECT_EQ(channels.of_node[other][3], channels.of_node[left][3]);
  EXPECT_EQ(channels.of_node[other][4], channels.of_node[right][0]);
}

TEST(ChannelGroups, GroupedConvolutionsAndGroupNormsKeepWholeGroups) {
  GraphBuilder b("net", {3, 4, 4});
  NodeIndex x = Pointwise(b, "first", 0, 8);
  const NodeIndex grouped = Pointwise(b, "grouped", x, 12, 4);  // 2 in, 3 out per group
  const NodeIndex next = Pointwise(b, "next", grouped, 8);
  x = b.Add("norm", GroupNorm{4}, {next});
  const ChannelGroups channels = FindChannelGroups(Finish(std::move(b), x));
  EXPECT_EQ(Names(channels), (std::vector<std::string>{"first:4", "next:4"}));
  EXPECT_EQ(channels.groups[0].channels, 8);
  EXPECT_EQ(channels.of_node[grouped][5].atom, 1);
  EXPECT_EQ(channels.of_node[next][7].atom, 3);
}

TEST(ChannelGroups, FlattenRepeatsAChannelForEachColumn) {
  GraphBuilder b("net", {3, 2, 3});
  const Graph graph = Finish(std::move(b), Pointwise(b, "conv", 0, 4));
  const ChannelGroups channels = FindChannelGroups(graph);
  const auto& columns = channels.of_node[2];
  ASSERT_EQ(columns.size(), 24U);
  for (std::size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(columns[i].atom, static_cast<int>(i / 6));
  const auto remain = ChannelsThatRemain(channels, {{1}});
  EXPECT_EQ(remain[2], (std::vector<std::int32_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(remain[0].size(), 3U);  // the image
  EXPECT_EQ(remain[3].size(), 5U);  // the classes
}

TEST(ChannelGroups, WhatTouchesInputOrOutputIsNeverDropped) {
  GraphBuilder b("net", {3, 4, 4});
  const NodeIndex conv = Pointwise(b, "conv", 0, 3);
  const NodeIndex sum = b.Add("sum", Add{}, {0, conv});
  const ChannelGroups channels = FindChannelGroups(Finish(std::move(b), sum));
  EXPECT_TRUE(channels.groups.empty());
  EXPECT_EQ(channels.of_node[conv][0].group, -1);
}

// The same law, naively: every (node, channel) is a vertex, every tie an edge, atoms are connected components found by
// flooding. Convolution outputs are cut off from their inputs unless grouped.
using Vertex = std::pair<NodeIndex, std::size_t>;

std::map<Vertex, int> NaiveComponents(const Graph& graph) {
  std::map<Vertex, std::vector<Vertex>> edges;
  const auto tie = [&](Vertex a, Vertex b) {
    edges[a].push_back(b);
    edges[b].push_back(a);
  };
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const auto channels = static_cast<std::size_t>(graph.shape(i).channels);
    for (std::size_t c = 0; c < channels; ++c) edges[{i, c}];
    if (std::holds_alternative<Input>(node.operation) || std::holds_alternative<Linear>(node.operation))
      continue;
    const auto in = static_cast<std::size_t>(graph.shape(node.inputs[0]).channels);
    if (const auto* conv = std::get_if<Conv>(&node.operation)) {
      const auto groups = static_cast<std::size_t>(conv->groups);
      for (std::size_t c = 0; groups > 1 && c < channels; ++c) {
        for (std::size_t k = 0; k < in; ++k) {
          if (c / (channels / groups) == k / (in / groups)) tie({i, c}, {node.inputs[0], k});
        }
      }
      continue;
    }
    std::size_t offset = 0;
    for (const NodeIndex input : node.inputs) {
      const Shape& shape = graph.shape(input);
      const bool flatten = std::holds_alternative<Flatten>(node.operation);
      const auto repeat = static_cast<std::size_t>(flatten ? shape.height * shape.width : 1);
      const auto count = static_cast<std::size_t>(shape.channels) * repeat;
      for (std::size_t c = 0; c < count; ++c) tie({i, offset + c}, {input, c / repeat});
      if (std::holds_alternative<Concat>(node.operation)) offset += count;
    }
    if (const auto* norm = std::get_if<GroupNorm>(&node.operation)) {
      const std::size_t size = channels / static_cast<std::size_t>(norm->groups);
      for (std::size_t c = 0; c < channels; ++c) tie({i, c}, {i, c / size * size});
    }
  }
  std::map<Vertex, int> component;
  int next = 0;
  for (const auto& [start, unused] : edges) {
    if (component.contains(start)) continue;
    std::queue<Vertex> queue({start});
    component[start] = next;
    while (!queue.empty()) {
      const Vertex at = queue.front();
      queue.pop();
      for (const Vertex& to : edges[at]) {
        if (component.emplace(to, next).second) queue.push(to);
      }
    }
    ++next;
  }
  return component;
}

Graph RandomGraph(Rng& rng) {
  GraphBuilder b("random", {2, 3, 3});
  std::vector<NodeIndex> open = {0};  // nodes with 3×3 outputs
  std::set<NodeIndex> unused = {0};
  const auto use = [&](NodeIndex x) {
    unused.erase(x);
    return x;
  };
  const auto pick = [&] { return use(open[rng.Below(open.size())]); };
  for (int i = 0; i < 14; ++i) {
    const std::string name = "n" + std::to_string(i);
    const NodeIndex x = pick();
    const std::int64_t channels = b.shape(x).channels;
    NodeIndex made = 0;
    switch (rng.Below(6)) {
      case 0:
        made = b.Add(name,
                     Conv{.out_channels = 2 + 2 * static_cast<std::int64_t>(rng.Below(4)), .kernel = {1, 1}},
                     {x});
        break;
      case 1:
        made = b.Add(name, Conv{.out_channels = 2 * channels, .kernel = {1, 1}, .groups = channels}, {x});
        break;
      case 2:
        made = b.Add(name, GroupNorm{channels % 2 == 0 ? 2 : 1}, {x});
        break;
      case 3:
        made = b.Add(name, Concat{}, {x, pick()});
        break;
      case 4:
        made =
            b.Add(name, Conv{.out_channels = 4, .kernel = {1, 1}, .groups = channels % 2 == 0 ? 2 : 1}, {x});
        break;
      default: {
        const NodeIndex other = Pointwise(b, name + "c", pick(), channels);
        made = b.Add(name, Add{}, {x, other});
        open.push_back(other);
        break;
      }
    }
    open.push_back(made);
    unused.insert(made);
  }
  const NodeIndex all = b.Add("all", Concat{}, {unused.begin(), unused.end()});
  return Finish(std::move(b), all);
}

TEST(ChannelGroups, EqualNaiveFloodingOnRandomGraphs) {
  Rng rng(5);
  int with_groups = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Graph graph = RandomGraph(rng);
    const ChannelGroups channels = FindChannelGroups(graph);
    const auto component = NaiveComponents(graph);
    std::set<int> fixed;
    for (const auto& [vertex, id] : component) {
      if (vertex.first == 0 || vertex.first + 1 == graph.size()) fixed.insert(id);
    }
    // Atoms and components must be the same partition: a bijection between their names.
    std::map<int, std::pair<int, int>> atom_of;
    std::map<std::pair<int, int>, int> component_of;
    for (const auto& [vertex, id] : component) {
      const auto [group, atom] = channels.of_node[vertex.first][vertex.second];
      ASSERT_EQ(group < 0, fixed.contains(id));
      if (group < 0) continue;
      const auto key = std::pair<int, int>(group, atom);
      ASSERT_EQ(atom_of.emplace(id, key).first->second, key);
      ASSERT_EQ(component_of.emplace(key, id).first->second, id);
    }
    with_groups += channels.groups.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(with_groups, 100);
}

}  // namespace
}  // namespace tributary::inline model
