#pragma once

#include <string>
#include <string_view>

#include "tributary/model/graph.h"

namespace tributary::inline model {

// A network as one line of text, for experiments and weights files with a network that is not in the zoo:
//
//   {"name": "net", "input": "3x32x32", "nodes": [
//     {"name": "conv1", "kind": "conv", "out": 16, "kernel": [3, 3], "padding": [1, 1]},
//     {"name": "relu1", "kind": "relu"},
//     {"name": "add", "kind": "add", "inputs": [2, 1]}, …]}
//
// Nodes are counted from 1; 0 is the input. Without "inputs" a node reads the previous node. Fields with
// default values are omitted.

// The network must be whole, with an image as input.
std::string FormatGraph(const Graph& graph);

// Safe on any text: returns a network within CheckGraphLimits, or an error with its location.
StatusOr<Graph> ParseGraph(std::string_view text);

}  // namespace tributary::inline model
