#pragma once

#include "tributary/base/distributions.h"
#include "tributary/data/dataset.h"
#include "tributary/explore/subnetwork_training.h"
#include "tributary/model/zoo.h"

namespace tributary::inline explore {

// Small things to explore in tests.

// Three classes told apart by which third of the image is bright.
inline Dataset StripedImages(std::size_t samples) {
  Rng rng(1);
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < samples; ++i) {
    labels.push_back(static_cast<std::int32_t>(rng.Below(3)));
    for (int pixel = 0; pixel < 64; ++pixel) {
      values.push_back(static_cast<float>(Normal(rng, pixel % 8 / 3 == labels.back() ? 1 : 0, 0.7)));
    }
  }
  return Dataset::Make({"stripes", Shape{1, 8, 8}, 3, {}}, std::move(values), std::move(labels)).value();
}

inline std::shared_ptr<const Model> SmallNetwork(const char* name) {
  return std::make_shared<const Model>(BuildZooGraph({name, Shape{1, 8, 8}, 3, Stem::kAuto}).value());
}

// Costs are multiply-accumulates: measured times are never the same twice.
inline ExploreOptions QuickExploration() {
  ExploreOptions options;
  options.population = 10;
  options.cost = FrontCost::kMacs;
  options.batch = 8;
  options.learning_rate = 0.02;
  options.steps = 3;
  options.screening_steps = 1;
  options.samples = 64;
  options.snapshot_steps = 12;
  return options;
}

}  // namespace tributary::inline explore
