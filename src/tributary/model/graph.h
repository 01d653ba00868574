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

// A network as data: nodes in execution order, each reading the outputs of earlier ones. Node 0 is the input, the last
// node gives the class scores. A Graph is valid and never changes: GraphBuilder refuses anything whose shapes do not
// fit, so the analyses and the engine need no checks of their own. Part of a network (split_points.h) may end in any shape, and may
// have a further input, before which a stretch of nodes ends that nothing behind it reads.
class Graph {
 public:
  const std::string& name() const { return name_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeIndex index) const { return nodes_[index]; }

  // The output of a node, for one sample.
  const Shape& shape(NodeIndex index) const { return shapes_[index]; }
  const Shape& input_shape() const { return shapes_.front(); }
  // Of a whole network.
  std::int64_t classes() const { return shapes_.back().channels; }

  // The node that uses this one's output last; the node itself for an output.
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
//   1. construct with the shape of a sample;
//   2. Add() nodes in execution order; each returns the index by which later nodes name it;
//   3. Build() once, which reports the first mistake by the node's name, or gives the graph.
// After a mistake further Add() calls are harmless, so a zoo function need not check each of them.
class GraphBuilder {
 public:
  GraphBuilder(std::string name, Shape input);

  NodeIndex Add(std::string name, Operation operation, std::vector<NodeIndex> inputs);
  // The shape a node has; all zero after a mistake.
  Shape shape(NodeIndex index) const;
  // The first mistake, if there was one.
  const Status& status() const { return first_error_; }

  StatusOr<Graph> Build() &&;
  // The same for part of a network, which may have further Input nodes, and outputs of any shape: its last node, and each
  // node right before a further input.
  StatusOr<Graph> BuildPart() &&;

 private:
  Graph graph_;
  Status first_error_;
};

// Whether a network that somebody else describes is of a size that can be analysed and held: at most 100,000 nodes, 2²²
// channels and columns in all of them together, 2³⁰ parameters. The networks of the zoo are far below.
Status CheckGraphLimits(const Graph& graph);

}  // namespace tributary::inline model
