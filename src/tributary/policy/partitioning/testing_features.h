#pragma once

#include <numeric>
#include <vector>

#include "tributary/base/distributions.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary::inline policy {

// Labelled samples in clusters, for tests: each class has a few centres of unequal weight with normal noise around.
struct ClusteredSamples {
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  std::size_t dimensions = 0;
  int classes = 0;

  Features features() const { return {values, dimensions}; }
};

inline ClusteredSamples MakeClusters(std::uint64_t seed, std::size_t samples, std::size_t dimensions,
                                     int classes) {
  constexpr std::size_t kCentres = 4;
  Rng rng(seed);
  ClusteredSamples made;
  made.dimensions = dimensions;
  made.classes = classes;
  std::vector<double> centres(static_cast<std::size_t>(classes) * kCentres * dimensions);
  for (double& value : centres) value = Normal(rng, 0, 3);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::uint64_t label = rng.Below(static_cast<std::uint64_t>(classes));
    const std::uint64_t cluster = std::min(rng.Below(kCentres), rng.Below(kCentres));
    made.labels.push_back(static_cast<std::int32_t>(label));
    for (std::size_t k = 0; k < dimensions; ++k) {
      const double centre = centres[(static_cast<std::size_t>(label) * kCentres + cluster) * dimensions + k];
      made.values.push_back(static_cast<float>(centre + Normal(rng)));
    }
  }
  return made;
}

inline std::vector<std::uint32_t> AllOf(const Features& features) {
  std::vector<std::uint32_t> all(features.samples());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

// The similarities between all samples, whatever their labels.
inline DenseSimilarities MakeSimilarities(const Features& features, double width) {
  const Panels panels(features, AllOf(features));
  DenseSimilarities similarities(features.samples());
  for (std::size_t s = 0; s < DenseSimilarities::Stripes(features.samples()); ++s) {
    similarities.FillStripe(panels, width, s);
  }
  return similarities;
}

}  // namespace tributary::inline policy
