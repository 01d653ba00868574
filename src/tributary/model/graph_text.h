#pragma once

#include <string>
#include <string_view>

#include "tributary/model/graph.h"

namespace tributary::inline model {

// A network as text, on one line: what stands in experiments and weights files for a network that is not of the zoo, so
// that a reader (a device, a later version) can build it.
//
//   {"name": "net", "input": "3x32x32", "nodes": [
//     {"name": "conv1", "kind": "conv", "out": 16, "kernel": [3, 3], "padding": [1, 1]},
//     {"name": "relu1", "kind": "relu"},
//     {"name": "add", "kind": "add", "inputs": [2, 1]}, …]}
//
// Nodes are counted from 1; 0 is the input. Without "inputs" a node reads the one before it. Fields that have
// their default are left out.

// Of a whole network, whose input is an image.
std::string FormatGraph(const Graph& graph);

// Any text is answered with a network within CheckGraphLimits, or with what is wrong and where.
StatusOr<Graph> ParseGraph(std::string_view text);

}  // namespace tributary::inline model
