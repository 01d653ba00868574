#pragma once

#include "tributary/model/graph.h"

namespace tributary {

// A network that somebody brought, made to fit the samples at hand. What cannot be, without other weights than those it
// came with, is refused in words.

// The same layers over samples of another height and width. Refused where a layer would need other weights: a linear
// layer behind a flattened map, unless that map is pooled to the same size.
StatusOr<Graph> WithInput(const Graph& graph, const Shape& input);

// The same with another number of classes: the last layer, which must be a linear one, has new weights.
StatusOr<Graph> WithClasses(const Graph& graph, std::int64_t classes);

// The network for these samples and classes. With a new head, its last layer is for just so many classes; else it must know
// at least as many.
StatusOr<Graph> FitToData(const Graph& graph, const Shape& input, std::int64_t classes, bool new_head);

}  // namespace tributary
