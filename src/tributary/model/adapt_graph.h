#pragma once

#include "tributary/model/graph.h"

namespace tributary::inline model {

// Networks made from other networks, node by node: for other samples or classes, and with other norms. A network that
// somebody brought keeps the weights it came with; a change that would need other weights is refused in words.

// The same layers over samples of another height and width. Refused where a layer would need other weights: a linear
// layer behind a flattened map, unless that map is pooled to the same size.
StatusOr<Graph> WithInput(const Graph& graph, const Shape& input);

// The same with another number of classes: the last layer, which must be a linear one, has new weights.
StatusOr<Graph> WithClasses(const Graph& graph, std::int64_t classes);

// The network for these samples and classes. With a new head, its last layer has this many classes; else it must know
// at least as many.
StatusOr<Graph> FitToData(const Graph& graph, const Shape& input, std::int64_t classes, bool new_head);

// The network with GroupNorm of gcd(32, channels) groups in place of each BatchNorm among nodes first … last; everything
// else as it was, names and epsilon included. So the layout of the parameters stays, and running statistics go.
Graph WithGroupNorms(const Graph& graph, NodeIndex first, NodeIndex last);

// The first node from `first` on whose output depends on the other samples of its batch (a batch norm); graph.size() if
// there is none.
NodeIndex FirstBatchStatistics(const Graph& graph, NodeIndex first);

}  // namespace tributary::inline model
