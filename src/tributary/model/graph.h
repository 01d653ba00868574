#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/operation.h"

namespace tributary::inline model {

using NodeIndex = std::size_t;

struct Node {
  std::string name;
  Operation operation;
  std::vector<NodeIndex> inputs;  // earlier nodes, in the order the operation takes them
};

// A network as data: nodes in execution order, each reading outputs of earlier nodes. Node 0 is the input,
// the last node gives the class scores. A Graph is immutable and valid: GraphBuilder refuses shapes that do
// not fit, so analyses and the engine do not check. Part of a network (split_points.h) may end in any shape
// and may have a second input; the nodes before that input end in an output that no later node reads.
class Graph {
 public:
  const std::string& name() const { return name_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeIndex index) const { return nodes_[index]; }

  // The shape of a node's output for one sample.
  const Shape& shape(NodeIndex index) const { return shapes_[index]; }
  const Shape& input_shape() const { return shapes_.front(); }
  // Only for a whole network.
  std::int64_t classes() const { return shapes_.back().channels; }

  // The last node that reads this node's output; the node itself for an output of the network.
  NodeIndex last_use(NodeIndex index) const { return last_uses_[index]; }

 private:
  friend class GraphBuilder;
  Graph() = default;

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Shape> shapes_;
  std::vector<NodeIndex> last_uses_;
};

// Builds a graph node by node:
//   1. Construct it with the shape of a sample.
//   2. Add() nodes in execution order; each call returns the index that later nodes use as input.
//   3. Build() once, which returns the graph or the first error, with the node's name.
// After an error further Add() calls do nothing harmful, so a zoo function need not check each call.
class GraphBuilder {
 public:
  GraphBuilder(std::string name, Shape input);

  NodeIndex Add(std::string name, Operation operation, std::vector<NodeIndex> inputs);
  // The shape of a node's output; all zero after an error.
  Shape shape(NodeIndex index) const;
  // The first error, if any.
  const Status& status() const { return first_error_; }

  StatusOr<Graph> Build() &&;
  // The same for part of a network, which may have further Input nodes and outputs of any shape: the last
  // node and each node right before a further input.
  StatusOr<Graph> BuildPart() &&;

 private:
  Graph graph_;
  Status first_error_;
};

// Limits for untrusted networks: at most 100,000 nodes, 2²² channels and columns in all nodes together, and
// 2³⁰ parameters. The networks of the zoo are far below.
Status CheckGraphLimits(const Graph& graph);

}  // namespace tributary::inline model
