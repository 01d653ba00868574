#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {

// "Who holds what, and what it looks like": samples as points of a plane, and which worker has each.
struct ShardsChart {
  struct Sample {
    Point place;  // Finite.
    std::size_t label = 0;
  };
  struct Shard {
    std::string caption;               // A line under the worker's number.
    std::vector<std::int64_t> counts;  // Of each class, as many classes for all. Not negative.
    std::vector<Sample> samples;       // Those that are drawn.
  };

  std::string title;
  std::vector<Shard> shards;     // At least one.
  std::vector<Sample> backdrop;  // Of everybody, drawn pale behind each shard.
};

// An SVG picture with one field for each worker: how its samples are divided over the classes, as a bar whose length is
// in proportion to the largest shard, and under it where they lie, coloured by class, before the pale whole. All fields
// have one scale. Below them the classes and their colours.
std::string DrawShards(const ShardsChart& chart);

}  // namespace tributary::inline plot
