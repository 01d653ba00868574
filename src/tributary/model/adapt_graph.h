#pragma once

#include "tributary/model/graph.h"

namespace tributary::inline model {

// Derives a network from another one, node by node: for other samples, classes or norms. An imported network
// keeps its weights; a change that would need other weights is an error.

// The same layers for samples of another height and width. Fails if a layer would need other weights, such as
// a linear layer after a flattened map, unless that map is pooled to the same size.
StatusOr<Graph> WithInput(const Graph& graph, const Shape& input);

// The same with another number of classes. The last layer must be linear and gets new weights.
StatusOr<Graph> WithClasses(const Graph& graph, std::int64_t classes);

// The network for these samples and classes. With a new head the last layer has exactly this many classes,
// otherwise it must have at least as many.
StatusOr<Graph> FitToData(const Graph& graph, const Shape& input, std::int64_t classes, bool new_head);

// Replaces each BatchNorm among nodes first … last by a GroupNorm of gcd(32, channels) groups. Names and
// epsilon stay, so the layout of the parameters stays; running statistics are dropped.
Graph WithGroupNorms(const Graph& graph, NodeIndex first, NodeIndex last);

// The first node at or after `first` that is a batch norm, whose output depends on the other samples of its
// batch; graph.size() if there is none.
NodeIndex FirstBatchStatistics(const Graph& graph, NodeIndex first);

}  // namespace tributary::inline model
