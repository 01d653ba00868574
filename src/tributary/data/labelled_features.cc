#include "tributary/data/labelled_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tributary/data/npy.h"
#include "tributary/data/npy_folder.h"
#include "tributary/policy/partitioning/principal_components.h"

namespace tributary::inline data {

StatusOr<LabelledFeatures> FeaturesFromNpy(ByteSpan features, ByteSpan labels) {
  TRIBUTARY_ASSIGN_OR_RETURN(const NpyArray rows, ParseNpy(features).WithContext("features"));
  TRIBUTARY_ASSIGN_OR_RETURN(const NpyArray numbers, ParseNpy(labels).WithContext("labels"));
  if (rows.shape.size() < 2 || rows.count == 0) {
    return Corrupt(
        fmt::format("features: an array of N x F numbers with no side of 0 is needed, a row for each sample; "
                    "found {} dimensions and {} values",
                    rows.shape.size(), rows.count));
  }
  LabelledFeatures made;
  TRIBUTARY_ASSIGN_OR_RETURN(made.labels, LabelsFromNpy(numbers).WithContext("labels"));
  made.dimensions = rows.count / rows.shape[0];
  if (rows.shape[0] != made.labels.size()) {
    return InvalidArgument(fmt::format(
        "there are features of {} samples and labels of {}; each sample needs one row and one label",
        rows.shape[0], made.labels.size()));
  }
  made.values = NpyToFloats(rows);
  TRIBUTARY_RETURN_IF_ERROR(CheckFeatures(made.features(), made.labels.size()));
  made.classes = *std::ranges::max_element(made.labels) + 1;
  return made;
}

StatusOr<LabelledFeatures> ReadFeatureFiles(const std::filesystem::path& features,
                                            const std::filesystem::path& labels) {
  constexpr Bytes kLargestFeatureFile{16'000'000'000};
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> rows, ReadFile(features, kLargestFeatureFile));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> numbers, ReadFile(labels, kLargestFeatureFile));
  return FeaturesFromNpy(rows, numbers).WithContext(features.string() + " and " + labels.string());
}

StatusOr<FeatureChoice> ParseFeatureChoice(std::string_view text) {
  constexpr std::string_view kPca = "pca:";
  if (text == "pixels") return FeatureChoice{0};
  if (text.starts_with(kPca)) {
    const std::string_view number = text.substr(kPca.size());
    FeatureChoice choice;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), choice.components);
    if (error == std::errc() && end == number.data() + number.size() && choice.components >= 1 &&
        choice.components <= 512) {
      return choice;
    }
  }
  return InvalidArgument(fmt::format(
      "the features '{}' of a data set are not known; they are 'pixels', or 'pca:K' with K from 1 to 512",
      text.substr(0, 60)));
}

StatusOr<LabelledFeatures> FeaturesOfDataset(const Dataset& dataset, const FeatureChoice& choice,
                                             std::uint64_t seed, const ParallelFor& parallel) {
  const auto values = static_cast<std::size_t>(dataset.shape().elements());
  if (choice.components > values) {
    return InvalidArgument(fmt::format("{} components are asked for, and a sample of {} has {} values",
                                       choice.components, dataset.name(), values));
  }
  if (dataset.size() == 0) return InvalidArgument(dataset.name() + " has no samples");
  LabelledFeatures made{.labels = {dataset.labels().begin(), dataset.labels().end()},
                        .classes = dataset.classes()};
  if (choice.components > 0) {
    const SampleReader reader{dataset.size(), values, [&dataset](std::size_t sample, std::span<float> row) {
                                dataset.Read(sample, row);
                              }};
    made.values = FindPrincipalComponents(reader, choice.components, seed, parallel).projected;
    made.dimensions = choice.components;
    return made;
  }
  made.dimensions = values;
  made.values.resize(dataset.size() * values);
  for (std::size_t i = 0; i < dataset.size(); ++i)
    dataset.Read(i, std::span(made.values).subspan(i * values, values));
  return made;
}

}  // namespace tributary::inline data
