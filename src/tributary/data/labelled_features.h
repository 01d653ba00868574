#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/policy/partitioning/features.h"

namespace tributary::inline data {

// Feature vectors and classes of samples, for policy/partitioning.
struct LabelledFeatures {
  std::vector<float> values{};  // row by row
  std::size_t dimensions = 0;
  std::vector<std::int32_t> labels;
  int classes = 0;

  Features features() const { return {values, dimensions}; }
};

// From .npy files: one row per sample (N x F numbers of any type; further dimensions are flattened) and one
// label per sample (see LabelsFromNpy); the number of classes is the largest label plus one. Fails if the
// numbers of rows and labels differ or a value is not finite.
StatusOr<LabelledFeatures> FeaturesFromNpy(ByteSpan features, ByteSpan labels);
StatusOr<LabelledFeatures> ReadFeatureFiles(const std::filesystem::path& features,
                                            const std::filesystem::path& labels);

// The features of a data set's samples: "pixels", all values as normalised for training, or "pca:K", the
// first K principal components.
struct FeatureChoice {
  std::size_t components = 0;  // 0: all values
};

StatusOr<FeatureChoice> ParseFeatureChoice(std::string_view text);

// The features of all samples. Fails for more components than values per sample.
StatusOr<LabelledFeatures> FeaturesOfDataset(const Dataset& dataset, const FeatureChoice& choice,
                                             std::uint64_t seed, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline data
