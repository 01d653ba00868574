#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {

// Samples as points in a plane, grouped by the worker that holds them.
struct ShardsChart {
  struct Sample {
    Point place;  // finite
    std::size_t label = 0;
  };
  struct Shard {
    std::string caption;               // shown below the worker's number
    std::vector<std::int64_t> counts;  // per class, the same number of classes for all shards, not negative
    std::vector<Sample> samples;       // to be drawn
  };

  std::string title;
  std::vector<Shard> shards;     // at least one
  std::vector<Sample> backdrop;  // of all workers, drawn pale behind each shard
};

// An SVG picture with one panel per worker: a bar of its samples per class, with a length relative to the
// largest shard, and below it the samples as points coloured by class on the pale backdrop. All panels have
// the same scale. The legend of class colours is at the bottom.
std::string DrawShards(const ShardsChart& chart);

}  // namespace tributary::inline plot
