#pragma once

#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary {

// Reads a graph: on each line the numbers of two nodes, counted from 0, with blanks between them. What follows a # is a
// comment; empty lines mean nothing; lines may end in \r\n. Edges are given back as they stand, in their order.
//
// Any bytes give edges or an error that begins with the line: "line 17: …". Nodes below kMostTopologyNodes, at most
// kMostTopologyEdges edges, none from a node to itself. Whether they make a connected graph, MakeTopology says.
StatusOr<std::vector<Edge>> ParseEdgeList(std::string_view text);

}  // namespace tributary
