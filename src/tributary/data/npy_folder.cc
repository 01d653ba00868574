#include "tributary/data/npy_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/data/folder.h"

namespace tributary::inline data {
namespace {

using std::filesystem::path;

constexpr Bytes kLargestArray{16'000'000'000};
// Far above real sets: a larger label is an id or a mistake, and would need an output layer of that width.
constexpr std::int64_t kMostArrayClasses = 100'000;

std::string Sides(const NpyArray& array) {
  return array.shape.empty() ? "a single number" : fmt::format("{}", fmt::join(array.shape, " x "));
}

StatusOr<Shape> ShapeOfSample(const NpyArray& array) {
  const auto fail = [&] {
    return Corrupt("samples must be an array of N x C x H x W, N x H x W or N x F with no side of 0, found " +
                   Sides(array));
  };
  if (array.count == 0) return fail();
  // A side is at most the number of bytes present, so it fits.
  const auto side = [&](std::size_t i) { return static_cast<std::int64_t>(array.shape[i]); };
  if (array.shape.size() == 4) return Shape{side(1), side(2), side(3)};
  if (array.shape.size() == 3) return Shape{1, side(1), side(2)};
  if (array.shape.size() == 2) return Shape{1, 1, side(1)};
  return fail();
}

StatusOr<Dataset> LoadPart(const path& samples_file, const path& labels_file) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto samples, ReadFile(samples_file, kLargestArray));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto labels, ReadFile(labels_file, kLargestArray));
  return DatasetFromNpy(samples_file.parent_path().filename().string(), samples, labels)
      .WithContext(samples_file.string() + " with " + labels_file.filename().string());
}

// Moves a random tenth out of `all`.
StatusOr<Dataset> HoldOut(Dataset& all, std::uint64_t seed) {
  if (all.size() < 2)
    return InvalidArgument(
        "one sample cannot be divided into training and test; give X_test.npy and y_test.npy");
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0U);
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "hold-out");
  Shuffle(rng, std::span(order));
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, all.size() / 10));
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  Dataset held = all.Select({order.begin(), middle});
  all = all.Select({middle, order.end()});
  return held;
}

}  // namespace

StatusOr<std::vector<std::int32_t>> LabelsFromNpy(const NpyArray& array) {
  const bool column = array.shape.size() == 2 && array.shape[1] == 1;
  if (array.shape.size() != 1 && !column)
    return Corrupt(fmt::format("labels must be an array of N or N x 1 numbers, found {}", Sides(array)));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> values, NpyToIntegers(array));
  std::vector<std::int32_t> labels;
  labels.reserve(values.size());
  for (const std::int64_t value : values) {
    if (value < 0 || value >= kMostArrayClasses) {
      return Corrupt(fmt::format("label {} must be from 0 to {}, found {}", labels.size(),
                                 kMostArrayClasses - 1, value));
    }
    labels.push_back(static_cast<std::int32_t>(value));
  }
  return labels;
}

StatusOr<Dataset> DatasetFromNpy(std::string name, ByteSpan samples_file, ByteSpan labels_file) {
  TRIBUTARY_ASSIGN_OR_RETURN(const NpyArray samples, ParseNpy(samples_file).WithContext("samples"));
  TRIBUTARY_ASSIGN_OR_RETURN(const NpyArray labels_array, ParseNpy(labels_file).WithContext("labels"));
  TRIBUTARY_ASSIGN_OR_RETURN(const Shape shape, ShapeOfSample(samples));
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<std::int32_t> labels, LabelsFromNpy(labels_array));
  if (samples.shape[0] != labels.size())
    return Corrupt(fmt::format("there are {} samples but {} labels", samples.shape[0], labels.size()));
  if (labels.size() > std::numeric_limits<std::uint32_t>::max())
    return ResourceExhausted(fmt::format("found {} samples; at most 4294967295 can be held", labels.size()));
  const int classes = *std::max_element(labels.begin(), labels.end()) + 1;
  Dataset::Values values;
  if (samples.type == NpyType::kUint8) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(samples.bytes.data());
    values = std::vector<std::uint8_t>(bytes, bytes + samples.count);
  } else {
    values = NpyToFloats(samples);
  }
  return Dataset::Make({std::move(name), shape, classes, {}}, std::move(values), std::move(labels));
}

StatusOr<TrainTest> LoadNpyFolder(const path& folder, std::uint64_t seed) {
  const path trimmed = WithoutLastSlash(folder);
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset train, LoadPart(trimmed / "X.npy", trimmed / "y.npy"));
  const path test_samples = trimmed / "X_test.npy", test_labels = trimmed / "y_test.npy";
  std::error_code ignored;
  const bool has_test =
      std::filesystem::exists(test_samples, ignored) || std::filesystem::exists(test_labels, ignored);
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset test,
                             has_test ? LoadPart(test_samples, test_labels) : HoldOut(train, seed));
  if (train.shape() != test.shape()) {
    return Corrupt(fmt::format("{} has samples of shape {}, but X.npy of {}", test_samples.string(),
                               FormatShape(test.shape()), FormatShape(train.shape())));
  }
  const int classes = std::max(train.classes(), test.classes());
  return Normalised({std::move(train).WithClasses(classes), std::move(test).WithClasses(classes)});
}

}  // namespace tributary::inline data
