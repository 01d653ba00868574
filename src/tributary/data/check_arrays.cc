#include <algorithm>
#include <cmath>
#include <optional>

#include "tributary/data/check_parts.h"
#include "tributary/data/npy.h"
#include "tributary/data/npy_folder.h"

namespace tributary {
namespace {

constexpr Bytes kLargestChecked{16'000'000'000};

// The array of a file, if it is one; the bytes must outlive it.
std::optional<NpyArray> ReadArray(const std::filesystem::path& file, std::vector<std::byte>& bytes,
                                  Findings& findings) {
  auto read = ReadFile(file, kLargestChecked);
  if (!read.ok()) {
    findings.Error(file.string(), read.status().message(), "save it with numpy.save");
    return std::nullopt;
  }
  bytes = std::move(*read);
  auto array = ParseNpy(bytes);
  if (!array.ok()) {
    findings.Error(file.string(), array.status().message(),
                   "save it with numpy.save, without pickled objects");
    return std::nullopt;
  }
  return *array;
}

void CheckFinite(const std::filesystem::path& file, const NpyArray& samples, Findings& findings) {
  if (samples.type == NpyType::kUint8 || samples.shape.empty() || samples.shape[0] == 0) return;
  const std::vector<float> values = NpyToFloats(samples);
  const std::size_t each = values.size() / samples.shape[0];
  std::size_t wrong = 0;
  std::string where;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    if (wrong++ < 5) where += (where.empty() ? "" : ", ") + std::to_string(each == 0 ? 0 : i / each);
  }
  if (wrong > 0) {
    findings.Error(file.string(),
                   std::to_string(wrong) + " values are not finite numbers, in samples " + where +
                       (wrong > 5 ? ", …" : ""),
                   "leave those samples out, or fill the values in");
  }
}

// The number of samples, if the pair is sound.
void CheckPair(const std::filesystem::path& folder, const std::string& x, const std::string& y,
               Findings& findings) {
  std::vector<std::byte> sample_bytes, label_bytes;
  const auto samples = ReadArray(folder / x, sample_bytes, findings);
  const auto labels = ReadArray(folder / y, label_bytes, findings);
  if (samples) CheckFinite(folder / x, *samples, findings);
  if (labels) {
    if (const auto read = LabelsFromNpy(*labels); !read.ok()) {
      findings.Error((folder / y).string(), read.status().message(), "labels are whole numbers from 0");
    } else if (!read->empty()) {
      std::vector<bool> seen(static_cast<std::size_t>(*std::ranges::max_element(*read)) + 1, false);
      for (const std::int32_t label : *read) seen[static_cast<std::size_t>(label)] = true;
      const auto missing = std::ranges::count(seen, false);
      if (missing > 0) {
        findings.Warn((folder / y).string(),
                      std::to_string(missing) + " of the labels 0 to " + std::to_string(seen.size() - 1) +
                          " do not occur",
                      "number the classes without holes, from 0");
      }
    }
  }
  if (samples && labels && !samples->shape.empty() && !labels->shape.empty() &&
      samples->shape[0] != labels->shape[0]) {
    findings.Error(folder.string(),
                   x + " has " + std::to_string(samples->shape[0]) + " samples and " + y + " " +
                       std::to_string(labels->shape[0]) + " labels",
                   "save one label for each sample");
  }
}

}  // namespace

void CheckArrays(const std::filesystem::path& folder, Findings& findings) {
  CheckPair(folder, "X.npy", "y.npy", findings);
  std::error_code ignored;
  if (std::filesystem::exists(folder / "X_test.npy", ignored) ||
      std::filesystem::exists(folder / "y_test.npy", ignored)) {
    CheckPair(folder, "X_test.npy", "y_test.npy", findings);
  }
}

}  // namespace tributary
