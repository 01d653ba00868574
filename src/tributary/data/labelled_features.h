#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/policy/partitioning/features.h"

namespace tributary::inline data {

// What samples look like and which class each belongs to, as policy/partitioning divides them.
struct LabelledFeatures {
  std::vector<float> values{};  // Row after row.
  std::size_t dimensions = 0;
  std::vector<std::int32_t> labels;
  int classes = 0;

  Features features() const { return {values, dimensions}; }
};

// From .npy files: a row for each sample (N x F numbers of any type; further sides are taken as one) and a label for
// each (see LabelsFromNpy); there are as many classes as the largest label and one. Refused where rows and labels differ
// in number, or a value is not finite.
StatusOr<LabelledFeatures> FeaturesFromNpy(ByteSpan features, ByteSpan labels);
StatusOr<LabelledFeatures> ReadFeatureFiles(const std::filesystem::path& features,
                                            const std::filesystem::path& labels);

// Which numbers of a data set's samples are its features: "pixels", all of them as they are normalised for training, or
// "pca:K", their places along the K directions in which they vary most.
struct FeatureChoice {
  std::size_t components = 0;  // 0: all values as they are.
};

StatusOr<FeatureChoice> ParseFeatureChoice(std::string_view text);

// Of all samples of the data set. Refused where more components are asked for than samples have values.
StatusOr<LabelledFeatures> FeaturesOfDataset(const Dataset& dataset, const FeatureChoice& choice,
                                             std::uint64_t seed, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline data
